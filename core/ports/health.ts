import { z } from 'zod';

export const alarmSchema = z.object({
  name: z.string(),
  /** `unknown`: the alarm has no data. */
  state: z.enum(['ok', 'alarm', 'unknown']),
  /** Condition and remediation; in the state `alarm` also the measured values. */
  description: z.string(),
  /** Time of the last change of state; `null` if unknown. */
  since: z.iso.datetime().nullable(),
});
export type Alarm = z.infer<typeof alarmSchema>;

/** Source of alarms that are evaluated outside of the service. */
export interface AlarmReader {
  list(): Promise<Alarm[]>;
}

/**
 * Result of one check of the service itself. `message` and `next` are readable without a key, so neither holds a path,
 * a URL or an address; `detail` may, and stays on the machine.
 */
export type Finding = {
  /** Subject: `ffmpeg`, `model`, `disk`, `media`, `clock`, `ports`, `guard`, `streams`, `load`, `watches`. */
  check: string;
  /** `pending`: no result yet. `warning`: works, with a risk. `failed`: does not work. */
  status: 'ok' | 'pending' | 'warning' | 'failed';
  message: string;
  /** Next step for the operator; null if no step is needed. */
  next: string | null;
  detail?: string;
};

export function about(check: string) {
  const create = (
    status: Finding['status'],
    message: string,
    next: string | null,
    detail?: string,
  ): Finding => ({
    check,
    status,
    message,
    next,
    ...(detail !== undefined && { detail }),
  });
  return {
    ok: (message: string, detail?: string) => create('ok', message, null, detail),
    pending: (message: string) => create('pending', message, null),
    warning: (message: string, next: string | null, detail?: string) =>
      create('warning', message, next, detail),
    failed: (message: string, next: string | null, detail?: string) =>
      create('failed', message, next, detail),
  };
}

/** Reader of the checks of a running service. */
export interface HealthReader {
  read(): Promise<Finding[]>;
}

const ranks = { ok: 0, pending: 0, warning: 1, failed: 2 } as const;

/** Returns the worst status of all findings; `pending` counts as `ok`. */
export function worstStatus(findings: readonly Finding[]): 'ok' | 'warning' | 'failed' {
  const worst = Math.max(0, ...findings.map(({ status }) => ranks[status]));
  return worst === 2 ? 'failed' : worst === 1 ? 'warning' : 'ok';
}

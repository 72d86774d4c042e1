import { z } from 'zod';
import { callWindowMs, findRefusal, type CallLimits } from '../../../../core/access/call-admission.ts';
import type { Admission, CallLimiter } from '../../../../core/ports/callers.ts';
import type { BackoffDeps } from '../../../retry-with-backoff.ts';
import { itemKeys } from '../table/keys.ts';
import { optimisticUpdate, type ItemUpdate } from '../table/optimistic-update.ts';
import type { Table } from '../table/table.ts';

/** Permit holders with expiry (epoch ms). Permits expire so that a crashed holder cannot leak one. */
export const permitsSchema = z.record(z.string(), z.int());
/** Permit holders with expiry. */
export type Permits = z.infer<typeof permitsSchema>;

/**
 * Returns the unexpired permits. Drops permits too far in the future, which were written before a clock was set
 * back and would block the caller.
 */
export function unexpiredPermits(places: Permits, nowMs: number, heldMs: number): Permits {
  return Object.fromEntries(
    Object.entries(places).filter(([, untilMs]) => untilMs > nowMs && untilMs <= nowMs + 2 * heldMs),
  );
}

export function countPermits(places: Permits): number {
  return Object.keys(places).length;
}

export function withoutPermit({ ...places }: Permits, holder: string): Permits {
  delete places[holder];
  return places;
}

type Deps = CallLimits & { table: Table; backoff: BackoffDeps; now: () => Date; newId: () => string };

/**
 * Lifetime of a permit, in milliseconds: three times the maximum duration of a capture and a model call. A permit
 * that is still held then belongs to a crashed function.
 */
const heldMs = 360_000;

/**
 * Creates a limiter that all functions share: one item per caller with the start times of the last minute and the
 * permits of running calls. Entries expire, so a crashed function does not block its caller for long.
 */
export function createCallLimiter({ perMinute, atOnce, newId, ...c }: Deps): CallLimiter {
  return {
    admit: async (caller) => {
      if (perMinute === 0 && atOnce === 0) return { kind: 'admitted', release: async () => undefined };
      const call = newId();
      const refused = await optimisticUpdate(c, itemKeys.calls(caller), useSchema, (use) =>
        admitted(current(use, c.now().getTime()), call),
      );
      return refused ?? { kind: 'admitted', release: releaseOnce(caller, call) };
    },
  };

  function admitted(use: Use, call: string): ItemUpdate<Use, Refusal | undefined> {
    const nowMs = c.now().getTime();
    const refused = findRefusal(
      { beganMs: use.began_ms, running: countPermits(use.under_way) },
      { perMinute, atOnce },
      nowMs,
    );
    if (refused) return { answer: refused };
    return {
      answer: undefined,
      state: {
        began_ms: perMinute > 0 ? [...use.began_ms, nowMs] : [],
        under_way: atOnce > 0 ? { ...use.under_way, [call]: nowMs + heldMs } : {},
      },
    };
  }

  /** Releases the permit once. A failure must not lose the response; an unreleased permit expires. */
  function releaseOnce(caller: string, call: string): () => Promise<void> {
    let released = atOnce === 0;
    return async () => {
      if (released) return;
      released = true;
      await optimisticUpdate(c, itemKeys.calls(caller), useSchema, (use) => ({
        answer: undefined,
        state: { ...use, under_way: withoutPermit(use.under_way, call) },
      })).catch(() => undefined);
    };
  }
}

type Refusal = Extract<Admission, { kind: 'refused' }>;

const useSchema = z.object({
  /** Start times of the calls in the last minute, oldest first. */
  began_ms: z.array(z.int()).default([]),
  under_way: permitsSchema.default({}),
});
type Use = z.infer<typeof useSchema>;

/**
 * Drops expired entries. Also drops entries from the future beyond the usual clock difference: they were written
 * before a clock was set back.
 */
function current(use: Use, nowMs: number): Use {
  const began_ms = use.began_ms.filter(
    (began) => began > nowMs - callWindowMs && began <= nowMs + callWindowMs,
  );
  return {
    began_ms: began_ms.toSorted((one, other) => one - other),
    under_way: unexpiredPermits(use.under_way, nowMs, heldMs),
  };
}

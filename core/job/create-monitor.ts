import type { InputMode } from '../records/capture.ts';
import { InvalidInputModeError } from '../errors.ts';
import type { MonitorConfig, MonitorJob } from '../records/job.ts';
import type { IdempotencyRecord } from '../ports/job-store.ts';
import type { VisionModel } from '../ports/vision-model.ts';
import type { MonitorRequest } from '../requests/live-monitor.ts';
import type { UnknownField } from '../requests/unknown-fields.ts';
import { acceptJob } from './accept-job.ts';
import type { AcceptDeps } from './accept-job.ts';
import { monitorNotices } from './creation-notices.ts';

type Model = Pick<VisionModel, 'supportsVideo' | 'model' | 'reasonNotToJudge'>;
/** Dependencies of a creation that asks what the model can judge. */
export type MonitorDeps = AcceptDeps & { vision: Model };

/** Accepts a monitor. `unknown` are the fields of the request that were ignored. Throws the contract's errors. */
export async function createMonitor(
  request: MonitorRequest,
  caller: string,
  deps: MonitorDeps,
  idempotency?: IdempotencyRecord,
  unknown: readonly UnknownField[] = [],
): Promise<MonitorJob> {
  const config = toConfig(request, deps);
  const kind = { job_type: 'live-monitor', config } as const;
  const notices = monitorNotices(request, config, deps.vision, unknown);
  return acceptJob({ request, kind, capture: config, notices }, caller, deps, idempotency);
}

function toConfig(request: MonitorRequest, { vision, limits }: MonitorDeps): MonitorConfig {
  return {
    condition: request.condition,
    interval_seconds: request.interval_seconds,
    input_mode: inputModeFor(request.input_mode, vision),
    clip_duration_seconds: request.clip_duration_seconds,
    monitor_duration_seconds: Math.min(request.monitor_duration_seconds, limits.maxJobSeconds),
    trigger_cooldown_seconds: request.trigger_cooldown_seconds,
    max_triggers: request.max_triggers,
    enable_prefilter: request.enable_prefilter,
  };
}

/** A mode that was asked for and cannot be had is an error; one that was left out becomes what the model takes. */
function inputModeFor(asked: InputMode | undefined, vision: Model): InputMode {
  if (asked === undefined) return vision.supportsVideo ? 'clip' : 'frames';
  if (asked !== 'frames' && !vision.supportsVideo) throw new InvalidInputModeError(asked, vision.model);
  return asked;
}

import type { InputMode } from '../records/capture.ts';
import { InvalidInputModeError } from '../errors.ts';
import { monitorRecords } from '../policies/monitor/records.ts';
import type { MonitorConfig } from '../policies/monitor/records.ts';
import type { JobOf } from '../records/job.ts';
import type { IdempotencyRecord } from '../ports/job-store.ts';
import type { VisionModel } from '../ports/vision-model.ts';
import type { MonitorRequest } from '../requests/live-monitor.ts';
import { acceptJob, limitNotice } from './accept-job.ts';
import type { AcceptDeps, Origin } from './accept-job.ts';

type Model = Pick<VisionModel, 'supportsVideo' | 'model' | 'reasonNotToJudge'>;
/** Dependencies of a creation whose request depends on the model. */
export type MonitorDeps = AcceptDeps & { vision: Model };

/** Accepts a monitor. Throws the contract's errors. */
export async function createMonitor(
  request: MonitorRequest,
  caller: string,
  deps: MonitorDeps,
  idempotency?: IdempotencyRecord,
  origin: Origin = {},
): Promise<JobOf<'monitor'>> {
  const config = toConfig(request, deps);
  const kind = { policy: 'monitor', config, state: monitorRecords.initialState } as const;
  const notices = [
    limitNotice(request.monitor_duration_seconds, config.monitor_duration_seconds),
    clipNotice(config),
    conditionNotice(request.condition, deps.vision),
  ];
  return acceptJob({ request, kind, capture: config, notices, origin }, caller, deps, idempotency);
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
    ...(request.look_back && { look_back: true }),
  };
}

/** Returns the mode of the request, else the one that fits the model. Throws `InvalidInputModeError` for a clip that the model cannot read. */
function inputModeFor(requested: InputMode | undefined, vision: Model): InputMode {
  if (requested === undefined) return vision.supportsVideo ? 'clip' : 'frames';
  if (requested !== 'frames' && !vision.supportsVideo)
    throw new InvalidInputModeError(requested, vision.model);
  return requested;
}

function clipNotice(config: MonitorConfig): string | undefined {
  const { input_mode, clip_duration_seconds: clip, monitor_duration_seconds: duration } = config;
  if (input_mode === 'frames' || clip < duration) return undefined;
  return `Clips of ${clip} s are not shorter than the monitor of ${duration} s: it may make one check only.`;
}

function conditionNotice(condition: string, { model, reasonNotToJudge }: Model): string | undefined {
  if (condition.trim() === '') return 'The condition is blank: describe what the check searches for.';
  const reason = reasonNotToJudge?.(condition);
  if (reason === undefined) return undefined;
  return `The model ${model} cannot judge this condition, so no check alerts: ${reason}.`;
}

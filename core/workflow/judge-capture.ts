import type { CoreDeps, Limits } from '../dependencies.ts';
import type { Screening } from '../sight/screening.ts';
import type { TickOutcome } from '../tick/tick-outcome.ts';
import { ModelBusyError, VisionError } from '../errors.ts';
import { createTimeLimit } from '../time-limit.ts';
import type { MonitorJob } from '../records/job.ts';
import type { CheckMedia } from '../ports/vision-model.ts';

type Deps = Pick<CoreDeps, 'media' | 'vision' | 'usage'> & { limits: Pick<Limits, 'visionTimeoutSeconds'> };
type Captured = Extract<Screening, { kind: 'fresh' }>['captured'];

/** Checks the condition of the monitor on a capture. */
export async function judgeCapture(
  job: MonitorJob,
  captured: Captured,
  deps: Deps,
  signal?: AbortSignal,
): Promise<TickOutcome> {
  try {
    const media = await readMedia(captured, job, deps);
    const limit = createTimeLimit(deps.limits.visionTimeoutSeconds, signal);
    const verdict = await deps.usage.charge(job.caller, () =>
      deps.vision.judge(media, job.config.condition, limit),
    );
    return { kind: 'judged', verdict, captured };
  } catch (error) {
    // An aborted check is neither a verdict nor a failure of the model: the workflow repeats the task.
    if (signal?.aborted || !(error instanceof VisionError)) throw error;
    if (error instanceof ModelBusyError) return { kind: 'model_busy', captured };
    const { code, message, remediation } = error;
    return { kind: 'model_failed', failure: { code, message, remediation }, captured };
  }
}

async function readMedia(captured: Captured, job: MonitorJob, deps: Deps): Promise<CheckMedia> {
  const frame = await deps.media.get(captured.frame_key);
  const clip = captured.clip_key === null ? undefined : await deps.media.get(captured.clip_key);
  if (!frame || (captured.clip_key !== null && !clip)) {
    throw new VisionError(
      'The capture was removed before the model could see it; the next check takes a new one.',
    );
  }
  const earlier = deps.vision.usesPrevious ? job.sight.last_frame?.key : undefined;
  const previous = earlier === undefined ? undefined : await deps.media.get(earlier);
  return {
    mode: job.config.input_mode,
    frame,
    ...(clip ? { clip } : {}),
    ...(previous ? { previous } : {}),
  };
}

import type { CallerUsage, Meter } from '../ports/usage.ts';
import type { Capture, InputMode } from '../records/capture.ts';
import { InvalidInputModeError } from '../errors.ts';
import { type Called, type VisionModel, judgeCondition } from '../ports/vision-model.ts';
import type { Verdict } from '../records/vision.ts';
import { createTimeLimit } from '../time-limit.ts';
import { readShownFrame, type CutDeps } from './shown-frame.ts';
import { captureStream, probeStream, requireClips, type ReachDeps } from './stream-access.ts';

type Deps = ReachDeps &
  CutDeps & {
    meter: Pick<Meter, 'count'>;
    now: () => Date;
    usage: Pick<CallerUsage, 'charge'>;
    vision: Pick<VisionModel, 'judge' | 'capabilities' | 'model'>;
  };

export type CheckOnceInput = { url: string; condition: string; mode: InputMode; clipSeconds: number };

/**
 * Checks a condition on a live stream once, without a job. Probes the stream first, because only a probe distinguishes
 * a recording from a live stream. Throws `InvalidInputModeError`, `StreamWithoutClipsError`, the errors of
 * `probeStream` and `captureStream`, `VisionError`, and the reason of `signal`: a check that nobody waits for calls no
 * model.
 */
export async function checkOnce(
  check: CheckOnceInput,
  caller: string,
  deps: Deps,
  signal?: AbortSignal,
): Promise<{ verdict: Verdict & Called; capture: Capture; modelMs: number }> {
  if (check.mode !== 'frames' && !deps.vision.capabilities.supportsVideo)
    throw new InvalidInputModeError(check.mode, deps.vision.model);
  requireClips(await probeStream(check.url, caller, deps, signal), check.mode);
  const capture = await captureStream(
    { url: check.url, mode: check.mode, clipSeconds: check.clipSeconds, resolveAgain: false },
    caller,
    deps,
    signal,
  );
  await deps.meter.count({ kind: 'direct_frame' });
  const media = { mode: check.mode, frame: capture.frame, ...(capture.clip ? { clip: capture.clip } : {}) };
  signal?.throwIfAborted();
  const limit = createTimeLimit(deps.limits.visionTimeoutSeconds, signal);
  const askedAt = deps.now();
  const verdict = await deps.usage.charge(caller, () =>
    judgeCondition(deps.vision, media, { condition: check.condition }, limit),
  );
  const modelMs = Math.max(0, deps.now().getTime() - askedAt.getTime());
  // The frame of the response is the one that the boxes are of.
  const frame = await readShownFrame(capture, verdict.shown_at_seconds, deps);
  return { verdict, capture: { ...capture, frame }, modelMs };
}

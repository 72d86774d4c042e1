import type { Capture, InputMode } from '../capture.ts';
import { InvalidInputModeError } from '../errors.ts';
import type { Meter } from '../ports/meter.ts';
import type { VisionModel } from '../ports/vision-model.ts';
import type { Verdict } from '../vision.ts';
import { captureStream, probeStream } from './reach-stream.ts';
import type { ReachNeeds } from './reach-stream.ts';

type Needs = ReachNeeds & {
  meter: Pick<Meter, 'count'>;
  vision: Pick<VisionModel, 'judge' | 'takesVideo' | 'model'>;
};

export type Check = { url: string; condition: string; mode: InputMode; clipSeconds: number };

/**
 * One look at a live stream, without a job. It is probed first, since only a probe tells a recording from a broadcast that has
 * ended meanwhile. Throws the contract's stream and model errors.
 */
export async function checkOnce(
  check: Check,
  caller: string,
  c: Needs,
): Promise<{ verdict: Verdict; capture: Capture }> {
  if (check.mode !== 'frames' && !c.vision.takesVideo)
    throw new InvalidInputModeError(check.mode, c.vision.model);
  await probeStream(check.url, caller, c);
  const capture = await captureStream(
    { url: check.url, mode: check.mode, clipSeconds: check.clipSeconds, resolveAgain: false },
    caller,
    c,
  );
  await c.meter.count({ kind: 'direct_frame' });
  const verdict = await c.vision.judge(
    { mode: check.mode, frame: capture.frame, ...(capture.clip ? { clip: capture.clip } : {}) },
    check.condition,
    AbortSignal.timeout(c.limits.visionTimeoutSeconds * 1000),
  );
  return { verdict, capture };
}

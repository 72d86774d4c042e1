import type { Capture, InputMode } from '../capture.ts';
import type { Collaborators } from '../collaborators.ts';
import { InvalidInputModeError } from '../errors.ts';
import type { Verdict } from '../vision.ts';

type Needs = Pick<Collaborators, 'streams' | 'vision' | 'limits'>;

export type Check = { url: string; condition: string; mode: InputMode; clipSeconds: number };

/** One look at a live stream, without a job. Throws the contract's stream and model errors. */
export async function checkOnce(check: Check, c: Needs): Promise<{ verdict: Verdict; capture: Capture }> {
  if (check.mode !== 'frames' && !c.vision.takesVideo)
    throw new InvalidInputModeError(check.mode, c.vision.model);
  const capture = await c.streams.capture(
    { url: check.url, mode: check.mode, clipSeconds: check.clipSeconds, resolveAgain: false },
    AbortSignal.timeout(c.limits.captureTimeoutSeconds * 1000),
  );
  const verdict = await c.vision.judge(
    { mode: check.mode, frame: capture.frame, ...(capture.clip ? { clip: capture.clip } : {}) },
    check.condition,
    AbortSignal.timeout(c.limits.visionTimeoutSeconds * 1000),
  );
  return { verdict, capture };
}

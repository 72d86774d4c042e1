import type { StreamCapturer } from '../../../core/ports/stream-capturer.ts';
import type { ClipResult } from '../../../core/records/clip.ts';

type AwaitClipDeps = {
  clip: NonNullable<StreamCapturer['clip']>;
  /** Monotonic clock, in milliseconds. */
  elapsedMs: () => number;
  wait: (milliseconds: number, signal: AbortSignal) => Promise<void>;
  /** Time after which a clip has what there is, in milliseconds. */
  maxWaitMs: number;
};

/**
 * Creates the reading of clips for a host whose memory ends with the call: it waits for the end of a clip, unless the
 * stream lists all of it then. `pending` is for a call at that time.
 */
export function awaitClip({ clip, elapsedMs, wait, maxWaitMs }: AwaitClipDeps): Pick<StreamCapturer, 'clip'> {
  return {
    clip: async (request, signal): Promise<ClipResult> => {
      const untilMs = elapsedMs() + maxWaitMs;
      for (;;) {
        const leftMs = untilMs - elapsedMs();
        const result = await clip({ ...request, ...(leftMs <= 0 && { isLast: true }) }, signal);
        if (result.kind !== 'pending') return result;
        const { listedAfterSeconds } = result;
        if (listedAfterSeconds !== undefined && listedAfterSeconds > minAwaySeconds)
          return { kind: 'pending', afterSeconds: listedAfterSeconds };
        await wait(Math.max(0, Math.min(result.afterSeconds * 1000, leftMs)), signal);
      }
    },
  };
}

/** A call is not worth ending for less. */
const minAwaySeconds = 2;

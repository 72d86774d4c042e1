import { TransientError } from '../../../core/errors.ts';
import type { StreamCapturer } from '../../../core/ports/stream-capturer.ts';
import type { StreamTurns } from '../../../core/ports/stream-turns.ts';

export type LimitCapturesDeps = {
  turns: StreamTurns;
  elapsedMs: () => number;
  /** Called with the time for which a capture waited for its turn. */
  report: (waitedMs: number) => void;
};

/**
 * Returns the capturer for ticks, in which each capture takes a turn. Throws `TransientError` if no turn is free in time, which
 * costs one tick.
 */
export function limitCaptures(
  streams: StreamCapturer,
  { turns, elapsedMs, report }: LimitCapturesDeps,
): StreamCapturer {
  return {
    probe: streams.probe,
    capture: async (request, signal) => {
      const startedMs = elapsedMs();
      const turn = await turns.take(request.url);
      report(elapsedMs() - startedMs);
      if (turn === undefined) throw new TransientError('No capture turn was free in time');
      try {
        return await streams.capture(request, signal);
      } finally {
        turn.end();
      }
    },
  };
}

import { TransientError } from '../../core/errors.ts';
import type { StreamCapturer } from '../../core/ports/stream-capturer.ts';
import type { StreamTurns } from '../../core/ports/stream-turns.ts';

/**
 * Returns the capturer for ticks, in which each capture takes a turn. Throws `TransientError` if no turn is free in time, which
 * costs one tick.
 */
export function limitCaptures(streams: StreamCapturer, turns: StreamTurns): StreamCapturer {
  return {
    probe: streams.probe,
    capture: async (request, signal) => {
      const turn = await turns.take(request.url);
      if (turn === undefined) throw new TransientError('No capture turn was free in time');
      try {
        return await streams.capture(request, signal);
      } finally {
        turn.end();
      }
    },
  };
}

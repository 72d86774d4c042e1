import { TransientError } from '../../core/errors.ts';
import type { StreamCapturer } from '../../core/ports/stream-capturer.ts';
import type { StreamTurns } from '../../core/ports/stream-turns.ts';

/** Returns the capturer for ticks: each capture takes a turn. Throws `TransientError` if there was none in time, which costs a tick and no job. */
export function limitCaptures(streams: StreamCapturer, turns: StreamTurns): StreamCapturer {
  return {
    probe: streams.probe,
    capture: async (request, signal) => {
      const turn = await turns.take(request.url);
      if (turn === undefined) throw new TransientError('The service captures as many streams as it can');
      try {
        return await streams.capture(request, signal);
      } finally {
        turn.end();
      }
    },
  };
}

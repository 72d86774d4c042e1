import { MachineBusyError } from '../../../core/errors.ts';
import type { Scan } from '../../../core/records/capture.ts';
import type { StreamCapturer } from '../../../core/ports/stream-capturer.ts';
import type { StreamTurns } from '../../../core/ports/stream-turns.ts';

export type LimitCapturesDeps = {
  turns: StreamTurns;
  elapsedMs: () => number;
  /** Called with the time for which a capture waited for its turn. */
  report: (waitedMs: number) => void;
};

/**
 * Returns the capturer for ticks, in which each capture takes a turn. Throws `MachineBusyError` if no turn is free in time, which costs one tick. Each picture of
 * its scan takes one too, and is missing then.
 */
export function limitCaptures(
  streams: StreamCapturer,
  { turns, elapsedMs, report }: LimitCapturesDeps,
): StreamCapturer {
  return {
    probe: streams.probe,
    capture: async (request, signal) => {
      const { caller } = request;
      const capture = await inTurn(caller, () => streams.capture(request, signal), signal);
      if (capture === undefined) throw new MachineBusyError();
      const { scan } = capture;
      if (!scan) return capture;
      const picture: Scan['picture'] = async (...call) =>
        (await inTurn(caller, () => scan.picture(...call), call[1])) ?? null;
      return { ...capture, scan: { ...scan, picture } };
    },
  };

  async function inTurn<Result>(
    caller: string,
    work: () => Promise<Result>,
    signal: AbortSignal,
  ): Promise<Result | undefined> {
    const startedMs = elapsedMs();
    const turn = await turns.take(caller, signal);
    report(elapsedMs() - startedMs);
    if (turn === undefined) return undefined;
    try {
      return await work();
    } finally {
      turn.end();
    }
  }
}

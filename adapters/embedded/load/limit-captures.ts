import { MachineBusyError } from '../../../core/errors.ts';
import type { ScanningCapturer, StreamTurns } from '../../../core/ports/stream-capturer.ts';
import type { ReportWait } from '../../fair-queue.ts';

export type LimitCapturesDeps = {
  turns: StreamTurns;
  elapsedMs: () => number;
  report: ReportWait;
};

/**
 * Returns the capturer for ticks, in which each capture takes a turn. Throws `MachineBusyError` if no turn is free in
 * time, which costs one tick. Each picture of a scan takes one too, and is missing then.
 */
export function limitCaptures(
  streams: ScanningCapturer,
  { turns, elapsedMs, report }: LimitCapturesDeps,
): ScanningCapturer {
  return {
    probe: streams.probe,
    capture: async (request, signal) => {
      const capture = await inTurn(request.caller, () => streams.capture(request, signal), signal);
      if (capture === undefined) throw new MachineBusyError();
      return capture;
    },
    picture: async (frame, request, signal) =>
      (await inTurn(request.caller, () => streams.picture(frame, request, signal), signal)) ?? null,
  };

  async function inTurn<Result>(
    caller: string,
    work: () => Promise<Result>,
    signal: AbortSignal,
  ): Promise<Result | undefined> {
    const startedMs = elapsedMs();
    const turn = await turns.take(caller, signal);
    report(elapsedMs() - startedMs, caller);
    if (turn === undefined) return undefined;
    try {
      return await work();
    } finally {
      turn.end();
    }
  }
}

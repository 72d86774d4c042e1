import type { FfmpegRunner } from '../media/ffmpeg/run-ffmpeg.ts';

export type LimitDecodesDeps = {
  ffmpeg: FfmpegRunner;
  /** Maximum concurrent decodes. */
  max: number;
  elapsedMs: () => number;
  /** Called with the time for which a decode waited. */
  report: (waitedMs: number) => void;
};

/**
 * Returns a runner that decodes a limited number of captures concurrently, in the order of arrival. More would only slow each other down. A capture waits
 * once its bytes are there, so a slow stream delays no other. Runs that read from the network themselves have no limit.
 */
export function limitDecodes({ ffmpeg, max, elapsedMs, report }: LimitDecodesDeps): FfmpegRunner {
  const waiting = new Set<() => void>();
  let running = 0;
  return {
    run: async (input, wanted, limits, signal) => {
      if (input.kind !== 'pipe') return ffmpeg.run(input, wanted, limits, signal);
      const chunks: Uint8Array[] = [];
      for await (const chunk of input.chunks) chunks.push(chunk);
      const startedMs = elapsedMs();
      await takeTurn(signal);
      report(elapsedMs() - startedMs);
      try {
        return await ffmpeg.run({ ...input, chunks }, wanted, limits, signal);
      } finally {
        endTurn();
      }
    },
  };

  async function takeTurn(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (running < max) {
      running += 1;
      return;
    }
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const leave = (): void => {
      waiting.delete(resolve);
      reject(signal.reason);
    };
    waiting.add(resolve);
    signal.addEventListener('abort', leave, { once: true });
    await promise.finally(() => signal.removeEventListener('abort', leave));
  }

  /** Passes the turn on. */
  function endTurn(): void {
    const [begin] = waiting;
    if (begin === undefined) {
      running -= 1;
      return;
    }
    waiting.delete(begin);
    begin();
  }
}

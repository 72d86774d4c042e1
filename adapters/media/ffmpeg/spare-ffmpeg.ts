import { startFfmpeg, type FfmpegProcess } from './ffmpeg-process.ts';

/**
 * ffmpeg that has started before it is needed. Debian's loads 213 libraries, which takes longer than a frame does (70 of 100 ms
 * where it was measured): a process that waits at its empty stdin takes that out of a capture. Each serves one capture, and no other stream's bytes ever.
 */
export type SpareFfmpeg = {
  /** The one that waits with these arguments, else a new one. */
  take(args: string[]): FfmpegProcess;
  /** Has one wait, if none does. */
  prepare(args: string[]): void;
};

/** One process for each list of arguments waits, for at most `keepMs`. None keeps this process from ending, and all end with it. */
export function createSpareFfmpeg(options: { ffmpegPath: string; keepMs: number }): SpareFfmpeg {
  const waiting = new Map<string, FfmpegProcess>();
  return {
    take: (args) => {
      const spare = waiting.get(keyOf(args));
      waiting.delete(keyOf(args));
      if (spare === undefined || !isRunning(spare)) return startFfmpeg(options.ffmpegPath, args);
      spare.awaited(true);
      return spare;
    },
    prepare: (args) => {
      if (!waiting.has(keyOf(args))) keep(keyOf(args), startFfmpeg(options.ffmpegPath, args));
    },
  };

  function keep(key: string, spare: FfmpegProcess): void {
    waiting.set(key, spare);
    spare.awaited(false);
    const drop = (): void => {
      if (waiting.get(key) === spare) waiting.delete(key);
    };
    const giveUp = (): void => {
      if (waiting.get(key) !== spare) return;
      drop();
      spare.child.kill('SIGKILL');
    };
    setTimeout(giveUp, options.keepMs).unref();
    // One that dies while it waits is missed by nobody.
    spare.closed.then(drop, drop);
  }
}

function keyOf(args: string[]): string {
  return args.join('\0');
}

/** The system may have ended it (memory). */
function isRunning({ child }: FfmpegProcess): boolean {
  return child.pid !== undefined && child.exitCode === null && child.signalCode === null;
}

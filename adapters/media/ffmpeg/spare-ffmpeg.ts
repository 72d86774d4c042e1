import { startFfmpeg, type FfmpegProcess } from './ffmpeg-process.ts';

/**
 * ffmpeg that has started before it is needed. Debian's loads 213 libraries, which takes longer than a frame does (70 of 100 ms
 * where it was measured): a process that waits at its empty stdin takes that out of a capture. Each serves one capture, and no other stream's bytes ever.
 */
export type SpareFfmpeg = {
  /** The one that waits with these arguments, else a new one. */
  take(command: FfmpegCommand): SpareProcess;
  /** Has one wait, if none does. */
  prepare(command: FfmpegCommand): void;
};

/** The arguments, with the file of its own that each process may write. */
export type FfmpegCommand = (file: string) => string[];

export type SpareProcess = FfmpegProcess & { file: string };

/**
 * One process for each list of arguments waits, for at most `keepMs`, and of all lists at most four: lengths of clips are the callers'
 * choice. None keeps this process from ending, and all end with it. None makes its file before it has read something.
 */
export function createSpareFfmpeg(options: {
  ffmpegPath: string;
  keepMs: number;
  newFile: () => string;
}): SpareFfmpeg {
  const waiting = new Map<string, SpareProcess>();
  return {
    take: (command) => {
      const spare = waiting.get(keyOf(command));
      waiting.delete(keyOf(command));
      if (spare === undefined || !isRunning(spare)) return start(command);
      spare.awaited(true);
      return spare;
    },
    prepare: (command) => {
      if (!waiting.has(keyOf(command)) && waiting.size < mostWaiting) keep(keyOf(command), start(command));
    },
  };

  function start(command: FfmpegCommand): SpareProcess {
    const file = options.newFile();
    return { ...startFfmpeg(options.ffmpegPath, command(file)), file };
  }

  function keep(key: string, spare: SpareProcess): void {
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

const mostWaiting = 4;

function keyOf(command: FfmpegCommand): string {
  return command('').join('\0');
}

/** The system may have ended it (memory). */
function isRunning({ child }: FfmpegProcess): boolean {
  return child.pid !== undefined && child.exitCode === null && child.signalCode === null;
}

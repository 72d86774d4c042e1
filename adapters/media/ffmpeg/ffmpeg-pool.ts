import { findDisplaced } from '../../fair-cache.ts';
import { startFfmpeg, type FfmpegProcess } from './spawn-ffmpeg.ts';

/** Builds the arguments of a process. `file` is the clip path of that process. */
export type FfmpegCommand = (file: string) => string[];

/** Process that has read no input yet, and the file that it may write. */
export type IdleProcess = FfmpegProcess & { file: string };

/**
 * Creates a pool of pre-started ffmpeg processes, one capture each: start-up takes 70 of 100 ms with Debian's build. It
 * keeps one idle process per argument list for at most `keepMs`, and at most four in total, because callers choose the
 * clip length: the caller with the most gives one up. Idle processes do not keep this process alive and end with it. A
 * process creates its file only after it has read input.
 */
export function createFfmpegPool(options: {
  ffmpegPath: string;
  keepMs: number;
  newFile: () => string;
  /**
   * Default: when the event loop is free. Starting a process takes 70 ms of processor time, which the check of a
   * capture needs.
   */
  prepareAfterMs?: number | undefined;
}) {
  const waiting = new Map<string, { caller: string; spare: IdleProcess; giveUp(): void }>();
  return {
    /** Returns the idle process with these arguments, or starts one. */
    take: (command: FfmpegCommand): IdleProcess => {
      const spare = waiting.get(toKey(command))?.spare;
      waiting.delete(toKey(command));
      if (spare === undefined || !isRunning(spare)) return start(command);
      spare.awaited(true);
      return spare;
    },
    /** Starts an idle process for these arguments if none exists, after `prepareAfterMs`. */
    prepare: (command: FfmpegCommand, caller: string = ''): void => {
      const { prepareAfterMs } = options;
      // Starting a process blocks for some milliseconds.
      if (prepareAfterMs === undefined) setImmediate(() => prepareNow(command, caller));
      else setTimeout(() => prepareNow(command, caller), prepareAfterMs).unref();
    },
  };

  function prepareNow(command: FfmpegCommand, caller: string): void {
    if (waiting.has(toKey(command))) return;
    if (waiting.size >= maxIdle) {
      const displaced = findDisplaced(waiting.values(), caller);
      if (displaced === undefined) return;
      displaced.giveUp();
    }
    keep(toKey(command), caller, start(command));
  }

  function start(command: FfmpegCommand): IdleProcess {
    const file = options.newFile();
    return { ...startFfmpeg(options.ffmpegPath, command(file)), file };
  }

  function keep(key: string, caller: string, spare: IdleProcess): void {
    const giveUp = (): void => {
      if (drop()) spare.child.kill('SIGKILL');
    };
    waiting.set(key, { caller, spare, giveUp });
    spare.awaited(false);
    setTimeout(giveUp, options.keepMs).unref();
    // An idle process that dies is only removed: `take` starts a new one.
    spare.closed.then(drop, drop);

    function drop(): boolean {
      return waiting.get(key)?.spare === spare && waiting.delete(key);
    }
  }
}

const maxIdle = 4;

function toKey(command: FfmpegCommand): string {
  return command('').join('\0');
}

/** Returns false if the system has ended the process, for example because of memory pressure. */
function isRunning({ child }: FfmpegProcess): boolean {
  return child.pid !== undefined && child.exitCode === null && child.signalCode === null;
}

import { spawn, type ChildProcess } from 'node:child_process';
import { Socket } from 'node:net';
import { TransientError } from '../../../core/errors.ts';

/** Started ffmpeg process that reads from its stdin. */
export type FfmpegProcess = ReturnType<typeof startFfmpeg>;

/**
 * Starts ffmpeg isolated: an empty environment (no proxy, no credentials) and pipes only. ffmpeg ends when this
 * process does, because its pipes close.
 */
export function startFfmpeg(ffmpegPath: string, args: string[]) {
  const child = spawn(ffmpegPath, args, { env: {}, stdio: ['pipe', 'pipe', 'pipe', 'pipe', 'pipe'] });
  return {
    child,
    /**
     * Exit code after all pipes are closed, or null if the process was killed. Rejects with `TransientError` if the
     * process could not be started.
     */
    closed: whenClosed(child),
    /** Sets whether a running ffmpeg keeps this process alive. Initially it does. */
    awaited: (yes: boolean) => setAwaited(child, yes),
  };
}

function whenClosed(child: ChildProcess): Promise<number | null> {
  return new Promise((resolve, reject) => {
    child.once('error', (error) => reject(notStarted(error)));
    child.once('close', resolve);
  });
}

/**
 * Maps a failed start to a `TransientError`: ffmpeg is being upgraded, or processes, memory or handles have run
 * out.
 */
function notStarted(error: Error): TransientError {
  return new TransientError('ffmpeg could not be started on this machine', { cause: error });
}

function setAwaited(child: ChildProcess, yes: boolean): void {
  const pipes = child.stdio.filter((pipe) => pipe instanceof Socket);
  for (const handle of [child, ...pipes]) {
    if (yes) handle.ref();
    else handle.unref();
  }
}

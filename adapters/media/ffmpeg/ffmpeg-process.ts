import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { Socket } from 'node:net';
import { TransientError } from '../../../core/errors.ts';

/** An ffmpeg that was started and reads its stdin. */
export type FfmpegProcess = {
  child: ChildProcess;
  /** Its exit code once all of its pipes are closed, null when it was killed; rejects with `TransientError` where no process could be started. */
  closed: Promise<number | null>;
  /** Whether this process waits for it before it ends itself: at first yes. */
  awaited(yes: boolean): void;
};

/** Away from everything: an empty environment (no proxy, no credentials) and pipes only. It cannot outlive this process for long: they close. */
export function startFfmpeg(ffmpegPath: string, args: string[]): FfmpegProcess {
  const child = spawn(ffmpegPath, args, { env: {}, stdio: ['pipe', 'pipe', 'pipe', 'pipe'] });
  return { child, closed: whenClosed(child), awaited: (yes) => setAwaited(child, yes) };
}

function whenClosed(child: ChildProcess): Promise<number | null> {
  return new Promise((resolve, reject) => {
    child.once('error', (error) => reject(notStarted(error)));
    child.once('close', resolve);
  });
}

/** Missing for a moment (an upgrade), or no process, memory or handle left: a fault of this machine, which passes. */
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

import { constants, setPriority } from 'node:os';
import { Readable, type Writable } from 'node:stream';
import { contained } from '../../contained.ts';
import { spawn, type ChildProcess } from 'node:child_process';
import { Socket } from 'node:net';
import { TransientError } from '../../../core/errors.ts';

/** Input of ffmpeg, in order. */
export type Chunks = AsyncIterable<Uint8Array> | Uint8Array[];

/** Reads all chunks. Throws their error. */
export async function collectChunks(chunks: Chunks): Promise<Uint8Array[]> {
  const collected: Uint8Array[] = [];
  for await (const chunk of chunks) collected.push(chunk);
  return collected;
}

/** Run of ffmpeg: a command to start, or a started `process` that has read no input. */
export type FfmpegRun = ({ ffmpegPath: string; args: string[] } | { process: FfmpegProcess }) & {
  /** Bytes written to stdin. If absent, stdin is empty. */
  input?: Chunks;
  /** Maximum bytes of each output pipe. ffmpeg is killed beyond it. */
  outputBytes: number;
  timeoutMs: number;
  /** True to leave the processor to all other processes. */
  canWait?: boolean;
};

/** Result of a run that was not aborted. */
export type FfmpegOutcome = {
  ended: 'exited' | 'timed out' | 'wrote too much';
  /** Exit code, or `null` if ffmpeg was killed. */
  exitCode: number | null;
  stdout: Uint8Array;
  /** Output on file descriptors 3 and 4. */
  fd3: Uint8Array;
  fd4: Uint8Array;
  /** First 64 KiB of stderr. */
  stderr: string;
};

const complaintBytes = 65_536;

/**
 * Runs ffmpeg once and kills it at the limits. Rejects with the abort reason, with the error of the input, or with
 * `TransientError` if no process can be started.
 */
export async function spawnFfmpeg(run: FfmpegRun, signal: AbortSignal): Promise<FfmpegOutcome> {
  signal.throwIfAborted();
  const { child, closed } = 'process' in run ? run.process : startFfmpeg(run.ffmpegPath, run.args);
  if (run.canWait) lowerPriority(child.pid);
  let ended: FfmpegOutcome['ended'] = 'exited';
  const kill = (reason: FfmpegOutcome['ended']): void => {
    ended = reason;
    child.kill('SIGKILL');
  };
  const abort = (): void => void child.kill('SIGKILL');
  const watchdog = setTimeout(() => kill('timed out'), run.timeoutMs);
  signal.addEventListener('abort', abort, { once: true });
  const stdout = collect(child.stdio[1], run.outputBytes, () => kill('wrote too much'));
  const stderr = collect(child.stdio[2], complaintBytes, () => {});
  const fd3 = collect(child.stdio[3], run.outputBytes, () => kill('wrote too much'));
  const fd4 = collect(child.stdio[4], run.outputBytes, () => kill('wrote too much'));
  let inputFailure: { error: unknown } | undefined;
  feed(child.stdin, run.input ?? []).catch((error: unknown) => {
    inputFailure = { error };
    abort();
  });
  try {
    const exitCode = await closed;
    signal.throwIfAborted();
    if (inputFailure !== undefined) throw inputFailure.error;
    return {
      ended,
      exitCode,
      stdout: stdout(),
      fd3: fd3(),
      fd4: fd4(),
      stderr: Buffer.from(stderr()).toString(),
    };
  } finally {
    clearTimeout(watchdog);
    signal.removeEventListener('abort', abort);
  }
}

function lowerPriority(pid: number | undefined): void {
  try {
    if (pid !== undefined) setPriority(pid, constants.priority.PRIORITY_BELOW_NORMAL);
  } catch {
    // It has ended already.
  }
}

/** Collects at most `limitBytes` and drains the rest, so that ffmpeg never blocks on a full pipe. */
function collect(pipe: unknown, limitBytes: number, onOverflow: () => void): () => Uint8Array {
  const chunks: Uint8Array[] = [];
  let keptBytes = 0;
  if (pipe instanceof Readable) {
    pipe.on('error', () => {});
    const keep = contained((chunk: Uint8Array) => {
      const kept = chunk.subarray(0, limitBytes - keptBytes);
      if (kept.length > 0) chunks.push(kept);
      keptBytes += kept.length;
      if (kept.length < chunk.length) onOverflow();
    }, onOverflow);
    pipe.on('data', keep);
  }
  return () => Buffer.concat(chunks);
}

/** Writes the input to stdin. ffmpeg may close stdin once it has enough: this is no error and ends the feed. */
async function feed(stdin: Writable | null, chunks: Chunks): Promise<void> {
  if (stdin === null) return;
  stdin.on('error', () => {});
  for await (const chunk of chunks) {
    if (stdin.destroyed) return;
    if (!stdin.write(chunk)) await drainedOrClosed(stdin);
  }
  stdin.end();
}

function drainedOrClosed(stdin: Writable): Promise<void> {
  if (stdin.destroyed) return Promise.resolve();
  return new Promise((resolve) => {
    const done = (): void => {
      stdin.off('drain', done).off('close', done);
      resolve();
    };
    stdin.on('drain', done).on('close', done);
  });
}

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

import { Readable } from 'node:stream';
import type { Writable } from 'node:stream';
import { startFfmpeg, type FfmpegProcess } from './ffmpeg-process.ts';

export type Chunks = AsyncIterable<Uint8Array> | Uint8Array[];

/** `process`: one that was started and has read nothing yet. */
export type FfmpegRun = ({ ffmpegPath: string; args: string[] } | { process: FfmpegProcess }) & {
  /** What is written to its stdin; without it stdin is empty. */
  input?: Chunks;
  /** Most bytes that each output pipe may bring before ffmpeg is killed. */
  outputBytes: number;
  timeoutMs: number;
};

export type FfmpegOutcome = {
  ended: 'exited' | 'timed out' | 'wrote too much';
  /** Null when it was killed. */
  exitCode: number | null;
  stdout: Uint8Array;
  /** What came on file descriptor 3. */
  fd3: Uint8Array;
  /** The beginning of what it complained about, for logs only. */
  complaints: string;
};

const complaintBytes = 4096;

/**
 * Runs ffmpeg once, with SIGKILL at the limits. Rejects with the signal's reason, with what the input threw, or with
 * `TransientError` where no process can be started.
 */
export async function spawnFfmpeg(run: FfmpegRun, signal: AbortSignal): Promise<FfmpegOutcome> {
  signal.throwIfAborted();
  const { child, closed } = 'process' in run ? run.process : startFfmpeg(run.ffmpegPath, run.args);
  let ended: FfmpegOutcome['ended'] = 'exited';
  const kill = (reason: FfmpegOutcome['ended']): void => {
    ended = reason;
    child.kill('SIGKILL');
  };
  const abort = (): void => void child.kill('SIGKILL');
  const watchdog = setTimeout(() => kill('timed out'), run.timeoutMs);
  signal.addEventListener('abort', abort, { once: true });
  const stdout = collect(child.stdio[1], run.outputBytes, () => kill('wrote too much'));
  const complaints = collect(child.stdio[2], complaintBytes, () => {});
  const fd3 = collect(child.stdio[3], run.outputBytes, () => kill('wrote too much'));
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
      complaints: Buffer.from(complaints()).toString(),
    };
  } finally {
    clearTimeout(watchdog);
    signal.removeEventListener('abort', abort);
  }
}

/** Keeps at most `limitBytes` and goes on draining, so that ffmpeg never blocks on a full pipe. */
function collect(pipe: unknown, limitBytes: number, onOverflow: () => void): () => Uint8Array {
  const chunks: Uint8Array[] = [];
  let keptBytes = 0;
  if (pipe instanceof Readable) {
    pipe.on('error', () => {});
    pipe.on('data', (chunk: Uint8Array) => {
      const kept = chunk.subarray(0, limitBytes - keptBytes);
      if (kept.length > 0) chunks.push(kept);
      keptBytes += kept.length;
      if (kept.length < chunk.length) onOverflow();
    });
  }
  return () => Buffer.concat(chunks);
}

/** ffmpeg may stop reading whenever it has enough: a closed pipe is no error, and nothing waits for it to drain. */
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

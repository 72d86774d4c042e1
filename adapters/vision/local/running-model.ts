import { fork, type ChildProcess } from 'node:child_process';
import { Socket } from 'node:net';
import { fileURLToPath } from 'node:url';
import { contained } from '../../contained.ts';
import { VisionError } from '../../../core/vision-errors.ts';
import type { SetTimer } from '../../../core/time-limit.ts';
import { type Load, type ModelAnswer, type ModelRequest, replySchema } from './protocol.ts';

export type ModelProcess = Pick<ChildProcess, 'on' | 'send' | 'kill' | 'ref' | 'unref' | 'stderr'> & {
  channel?: { ref(): void; unref(): void } | null | undefined;
};

/** Model in one process, from its start to its end. */
export type RunningModel = ReturnType<typeof startModel>;

/** Time after which a process that does not end an aborted call is killed, in milliseconds. */
const cancelGraceMs = 30_000;
/** End of the messages of the runtime that is kept: its last lines name a fault. */
const keptCharacters = 4_000;

type Exchange = { answer: ModelAnswer; memoryBytes: number } | 'stuck';
type Running = { id: number; resolve(exchange: Exchange): void; reject(error: Error): void };

/** Loads a model in a process of its own, which may die. */
export function startModel(load: Load, setTimer: SetTimer, start = startModelProcess) {
  const child = start();
  const loaded = Promise.withResolvers<void>();
  const ended = Promise.withResolvers<VisionError>();
  // It fails where it is awaited; without a call, the next one reports it.
  loaded.promise.catch(() => undefined);
  const use = createHold(child);
  let running: Running | undefined;
  let messages = '';
  /** Reason that the process names before its end. */
  let failed: string | undefined;
  let isReady = false;
  let lastId = 0;

  child.stderr?.on('data', (text: Buffer) => {
    messages = (messages + text.toString()).slice(-keptCharacters);
  });
  child.on(
    'message',
    contained(receive, () => child.kill('SIGKILL')),
  );
  child.on('error', (error) => end(String(error)));
  child.on('exit', (code, killed) => end(killed ?? `exit code ${code}`));
  child.send(load);

  function receive(message: unknown): void {
    const reply = replySchema.parse(message);
    if ('ready' in reply) {
      isReady = true;
      loaded.resolve();
    } else if ('failed' in reply) failed = reply.failed;
    else if (running?.id !== reply.id) return;
    else if ('error' in reply) failed = reply.error;
    else {
      running.resolve('isStuck' in reply ? 'stuck' : reply);
      running = undefined;
    }
  }

  function end(reason: string): void {
    const error = explainEnd({ failed, messages, isReady }, reason);
    running?.reject(error);
    running = undefined;
    loaded.reject(error);
    ended.resolve(error);
  }

  return {
    /** Resolves when the model is loaded. Rejects with a `VisionError` if the process ends before. */
    ready: loaded.promise,
    isReady: () => isReady,
    /** Keeps this process alive, until as many `false` follow. */
    hold: use,
    /** Resolves with the reason when the process has ended. */
    ended: ended.promise,
    kill: (): void => void child.kill('SIGKILL'),

    /**
     * Makes one call, also after the signal has aborted: the answer then comes as soon as the model has stopped.
     * One call at a time. Rejects with a `VisionError` if the process ends. Resolves with `stuck` if the process
     * takes no calls any more.
     */
    async exchange(request: ModelRequest, signal: AbortSignal): Promise<Exchange> {
      lastId += 1;
      const id = lastId;
      const { promise, resolve, reject } = Promise.withResolvers<Exchange>();
      running = { id, resolve, reject };
      use(true);
      let cancelKill: (() => void) | undefined;
      const abort = () => {
        child.send({ cancel: id });
        cancelKill = setTimer(() => child.kill('SIGKILL'), cancelGraceMs);
      };
      signal.addEventListener('abort', abort, { once: true });
      child.send({ id, ...request });
      try {
        return await promise;
      } finally {
        cancelKill?.();
        signal.removeEventListener('abort', abort);
        use(false);
      }
    },
  };
}

/** Returns a function that keeps this process alive while calls are under way, and only then. */
function createHold(child: ModelProcess): (isUsed: boolean) => void {
  let uses = 0;
  child.unref();
  child.channel?.unref();
  return (isUsed) => {
    uses += isUsed ? 1 : -1;
    const change = uses > 0 ? 'ref' : 'unref';
    child[change]();
    child.channel?.[change]();
  };
}

/** Returns why a process has ended, for callers and for the log. */
function explainEnd(
  { failed, messages, isReady }: { failed: string | undefined; messages: string; isReady: boolean },
  reason: string,
): VisionError {
  const cause = new Error([failed ?? reason, lastFault(messages)].filter(Boolean).join(': '));
  if (reason === 'SIGKILL' && !isReady)
    return new VisionError(
      'The system ended the process of the model while it was loading: it has too little memory. Use a smaller model or context (WATCHPOST_LOCAL_CONTEXT).',
      { cause },
    );
  if (!isReady)
    return new VisionError(
      `The model cannot be loaded: ${withoutFolders(cause.message)}. Check both files.`,
      {
        cause,
      },
    );
  return new VisionError(`The process of the model ended (${failed ?? reason}).`, { cause });
}

/** Shortens paths to the names of files: callers read why a model does not answer. */
function withoutFolders(text: string): string {
  return text.replaceAll(/(?:[A-Z]:)?[\\/][^\s'"]*[\\/]/g, '');
}

/** Returns the last line of the runtime that names a fault. */
function lastFault(messages: string): string | undefined {
  const faults = messages
    .split('\n')
    .filter((line) => /error|corrupt|unsupported|failed to (?:seek|read|open|allocate)/i.test(line));
  return (faults.findLast((line) => /error loading|load_tensors/.test(line)) ?? faults.at(-1))
    ?.replace(/^\w+: (?:error: )?/, '')
    .slice(0, 200);
}

/**
 * Starts the process without the environment of the service, which has keys: the runtime also decodes pictures of
 * strangers.
 */
export function startModelProcess(): ModelProcess & Pick<ChildProcess, 'pid'> {
  const { SystemRoot, PATH = '' } = process.env;
  const child = fork(fileURLToPath(new URL('model-process.ts', import.meta.url)), [], {
    // Without a path the runtime finds no ffprobe, to which it would hand pictures that it cannot decode.
    env: process.platform === 'win32' ? { SystemRoot, PATH } : { PATH: '/nonexistent' },
    execArgv: [],
    serialization: 'advanced',
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  });
  if (child.stderr instanceof Socket) child.stderr.unref();
  return child;
}

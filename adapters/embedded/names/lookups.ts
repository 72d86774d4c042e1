import { fork, type ChildProcess } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { setSystemTimer, waitAtMost, type SetTimer } from '../../../core/time-limit.ts';
import { toStreamKey } from '../../caller-stream.ts';
import { contained } from '../../contained.ts';
import type { Address } from '../../egress/address-rule.ts';
import { createFairCache } from '../../fair-cache.ts';
import { createFairTurns } from '../load/fair-turns.ts';

export type NameProcess = Pick<ChildProcess, 'on' | 'send' | 'kill'>;

export type LookupsDeps = {
  currentCaller: () => string;
  elapsedMs?: () => number;
  setTimer?: SetTimer;
  start?: () => NameProcess;
};

/**
 * Lookups at a time, of all callers and of one: half of the threads of the process take lookups, the others would wait
 * for them.
 */
const max = { ofAll: 60, ofCaller: 12 };
const threads = 128;
const maxWaitMs = 5_000;
/** Time after which a lookup is given up: connections wait no longer. */
const giveUpMs = 5_000;
/**
 * Time for which a failure is remembered: that of a resolver, and that of a silent one, whose next lookup would take as
 * long. The first silence of a name may be that of a busy machine.
 */
const rememberMs = { refused: 5_000, silent: 30_000 };
const maxRemembered = 1_000;
/** Time without a lookup after which the process ends: it has 40 MB. */
const keepIdleMs = 60_000;

/**
 * Creates the resolver of all names that callers choose, in a process of its own, fairly by caller: a name whose server
 * is silent holds a thread of the operating system for up to a minute, which only the end of its process frees.
 */
export function createLookups(deps: LookupsDeps) {
  const { currentCaller, elapsedMs = () => performance.now() } = deps;
  const { setTimer = setSystemTimer, start = startNameProcess } = deps;
  const turns = createFairTurns({
    max: max.ofAll,
    maxPerCaller: max.ofCaller,
    maxWaitMs,
    elapsedMs,
    setTimer,
  });
  const failures = createFairCache<string, { error: unknown; untilMs: number }>({ max: maxRemembered });
  const underWay = new Map<string, Promise<Address[]>>();
  let resolver: Resolver | undefined;
  let cancelIdle: (() => void) | undefined;
  return {
    /** Returns the addresses of a name. Throws if it has none, was not resolved in time, or failed a moment ago. */
    lookup: async (host: string): Promise<Address[]> => {
      const caller = currentCaller();
      const failed = failures.get(caller, host);
      if (failed && elapsedMs() < failed.untilMs) throw failed.error;
      const key = toStreamKey({ caller, url: host });
      const lookup = underWay.get(key) ?? resolve(caller, host).finally(() => underWay.delete(key));
      underWay.set(key, lookup);
      return lookup;
    },
    close,
  };

  async function resolve(caller: string, host: string): Promise<Address[]> {
    const turn = await turns.take(caller);
    if (turn === undefined) throw new Error('Too many names of this caller wait for their servers');
    const used = (resolver ??= openResolver(start(), () => (resolver = undefined)));
    cancelIdle?.();
    cancelIdle = setTimer(close, keepIdleMs);
    let keptMs = rememberMs.refused;
    const { answer, giveUp } = used.ask(host);
    // A lookup that was given up still has its thread.
    answer.finally(() => turn.end()).catch(() => undefined);
    try {
      return await waitAtMost(giveUpMs, answer, () => giveUpLookup(giveUp), setTimer);
    } catch (error) {
      const wasSilent = failures.get(caller, host)?.error instanceof SilentError;
      if (wasSilent && error instanceof SilentError) keptMs = rememberMs.silent;
      failures.set(caller, host, { error, untilMs: elapsedMs() + keptMs });
      throw error;
    }
  }

  function close(): void {
    cancelIdle?.();
    resolver?.end();
  }
}

class SilentError extends Error {
  override readonly name = 'SilentError';

  constructor() {
    super('The name was not resolved in time');
  }
}

function giveUpLookup(giveUp: () => void): never {
  giveUp();
  throw new SilentError();
}

type Resolver = ReturnType<typeof openResolver>;

type Pending = { resolve(addresses: Address[]): void; reject(error: Error): void; isGivenUp: boolean };

const addressSchema = z.object({ address: z.string(), family: z.literal([4, 6]) });
const replySchema = z.union([
  z.object({ id: z.number(), addresses: z.array(addressSchema) }),
  z.object({ id: z.number(), error: z.string() }),
]);

function openResolver(child: NameProcess, onEnd: () => void) {
  const pending = new Map<number, Pending>();
  let lastId = 0;
  const end = (): void => {
    onEnd();
    child.kill('SIGKILL');
    for (const { reject, isGivenUp } of pending.values())
      reject(isGivenUp ? new SilentError() : new Error('The resolver has ended'));
    pending.clear();
  };
  const endIfGivenUp = (): void => {
    if (pending.size > 0 && [...pending.values()].every(({ isGivenUp }) => isGivenUp)) end();
  };
  child.on('exit', end);
  child.on('error', end);
  child.on('message', contained(receive, end));
  return { ask, end };

  /** Asks for a name. The process ends once all that it does was given up. */
  function ask(host: string) {
    lastId += 1;
    const id = lastId;
    const { promise, resolve, reject } = Promise.withResolvers<Address[]>();
    const asked: Pending = { resolve, reject, isGivenUp: false };
    pending.set(id, asked);
    child.send({ id, host });
    const giveUp = (): void => {
      asked.isGivenUp = true;
      endIfGivenUp();
    };
    return { answer: promise, giveUp };
  }

  function receive(message: unknown): void {
    const reply = replySchema.parse(message);
    const asked = pending.get(reply.id);
    pending.delete(reply.id);
    if ('error' in reply) asked?.reject(new Error(reply.error));
    else asked?.resolve(reply.addresses);
    endIfGivenUp();
  }
}

function startNameProcess(): NameProcess {
  const child = fork(fileURLToPath(new URL('name-process.ts', import.meta.url)), [], {
    env: { UV_THREADPOOL_SIZE: String(threads) },
    execArgv: ['--max-old-space-size=32'],
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  });
  child.unref();
  child.channel?.unref();
  return child;
}

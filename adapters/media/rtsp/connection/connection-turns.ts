import { setSystemTimer, waitUntilAborted, type SetTimer, wait } from '../../../../core/time-limit.ts';
import type { CallerStream } from '../../../caller-stream.ts';
import { createFairByteCache } from '../../../byte-cache.ts';
import { busyWaitsMs } from '../../../egress/busy-waits.ts';
import { RtspStatusError } from '../protocol/errors.ts';
import { createFairCache } from '../../../fair-cache.ts';
import type { DescribedStream } from './describe.ts';

/** Connections to the same stream URL without a session: probes, and captures that open one each. */
export type ConnectionTurns = {
  /**
   * Runs `connect`, also beside others of the URL. Once the camera has refused one of them for its number of viewers,
   * they run one after another. A server that is unavailable is tried again. Throws like `connect`, and the abort
   * reason.
   */
  run<Result>(stream: CallerStream, connect: () => Promise<Result>, signal: AbortSignal): Promise<Result>;
};

const [maxLimited, maxBytes] = [2_000, 4 * 1024 * 1024];
/** "Not Enough Bandwidth" and "Service Unavailable": the answers of cameras with too many viewers. */
const fullStatuses = [453, 503];

export function createConnectionTurns(setTimer: SetTimer = setSystemTimer): ConnectionTurns {
  /** Connections that are open, or wait for those before them. */
  const current = new Map<string, Set<Promise<unknown>>>();
  /** Streams of cameras that refused a second connection. */
  const limited = createFairByteCache<true>({ name: 'cameras of one viewer', max: maxLimited, maxBytes });
  return {
    run: async ({ url, caller }, connect, signal) => {
      if (limited.get(caller, url)) return inTurn(url, connect, signal);
      const others = current.get(url)?.size ?? 0;
      try {
        return await counted(url, connect);
      } catch (error) {
        if (!hasStatus(error, fullStatuses)) throw error;
        if (others === 0 && !current.has(url))
          return await retryBusy(error, async () => counted(url, connect), setTimer, signal);
        limited.set(caller, url, true);
        return await inTurn(url, connect, signal);
      }
    },
  };

  async function inTurn<Result>(
    url: string,
    connect: () => Promise<Result>,
    signal: AbortSignal,
  ): Promise<Result> {
    const before = Promise.allSettled(current.get(url) ?? new Set<Promise<unknown>>());
    return counted(url, async () => {
      await waitUntilAborted(before, signal);
      return connect().catch(async (error: unknown) => retryBusy(error, connect, setTimer, signal));
    });
  }

  async function counted<Result>(url: string, work: () => Promise<Result>): Promise<Result> {
    const members = current.get(url) ?? new Set();
    current.set(url, members);
    const running = work();
    members.add(running);
    try {
      return await running;
    } finally {
      members.delete(running);
      if (members.size === 0) current.delete(url);
    }
  }
}

/** Connects again after a failure with the status 503. Throws the last failure, any other one, and the abort reason. */
export async function retryBusy<Result>(
  failure: unknown,
  connect: () => Promise<Result>,
  setTimer: SetTimer,
  signal: AbortSignal,
): Promise<Result> {
  let last = failure;
  for (const waitMs of busyWaitsMs) {
    if (!hasStatus(last, [503])) break;
    await wait(waitMs, setTimer, signal);
    try {
      return await connect();
    } catch (error) {
      last = error;
    }
  }
  throw last;
}

/** Returns true for a failure whose cause is a response with one of these statuses. */
function hasStatus(error: unknown, statuses: readonly number[]): boolean {
  return (
    error instanceof Error && error.cause instanceof RtspStatusError && statuses.includes(error.cause.status)
  );
}

/**
 * Connections of probes, open for the first capture of their stream: a server that has just been left may still tear
 * down what the next viewer would share, and refuse it.
 */
export type HandedConnections = ReturnType<typeof createHandedConnections>;

const keepMs = 3_000;
const maxKept = 100;

type Kept = { described: DescribedStream; cancelTimer: () => void };

export function createHandedConnections(setTimer: SetTimer) {
  const kept = createFairCache<string, Kept>({ max: maxKept, onEvict: close });
  return {
    /** Keeps a described stream for a few seconds, in the place of an earlier one of its URL and caller. */
    put(stream: CallerStream, described: DescribedStream): void {
      drop(stream);
      kept.set(stream.caller, stream.url, { described, cancelTimer: setTimer(() => drop(stream), keepMs) });
    },
    /** Returns the stream of a URL if its connection is still open. The receiver closes it. */
    take({ caller, url }: CallerStream): DescribedStream | undefined {
      const connection = kept.delete(caller, url);
      connection?.cancelTimer();
      return connection?.described.client.socket.destroyed ? undefined : connection?.described;
    },
    close: (): void => {
      for (const each of kept.values()) close(each);
    },
  };

  function drop({ caller, url }: CallerStream): void {
    const connection = kept.delete(caller, url);
    if (connection) close(connection);
  }
}

function close({ described, cancelTimer }: Kept): void {
  cancelTimer();
  described.client.close();
}

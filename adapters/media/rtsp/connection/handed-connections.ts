import type { SetTimer } from '../../../../core/time-limit.ts';
import type { CallerStream } from '../../../caller-stream.ts';
import { createFairCache } from '../../../fair-cache.ts';
import type { DescribedStream } from './describe.ts';

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
      const found = kept.delete(caller, url);
      found?.cancelTimer();
      return found?.described.client.socket.destroyed ? undefined : found?.described;
    },
    close: (): void => {
      for (const each of kept.values()) close(each);
    },
  };

  function drop({ caller, url }: CallerStream): void {
    const found = kept.delete(caller, url);
    if (found) close(found);
  }
}

function close({ described, cancelTimer }: Kept): void {
  cancelTimer();
  described.client.close();
}

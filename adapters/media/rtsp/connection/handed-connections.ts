import type { SetTimer } from '../../../../core/time-limit.ts';
import type { DescribedStream } from './describe.ts';

/**
 * Connections of probes, open for the first capture of their stream: a server that has just been left may still tear down what the next viewer would
 * share, and refuse it.
 */
export type HandedConnections = {
  /** Keeps a described stream for a few seconds, in the place of an earlier one of its URL. */
  put(url: string, stream: DescribedStream): void;
  /** Returns the stream of a URL if its connection is still open. The receiver closes it. */
  take(url: string): DescribedStream | undefined;
  close(): void;
};

const keepMs = 3_000;
const maxKept = 100;

export function createHandedConnections(setTimer: SetTimer): HandedConnections {
  const kept = new Map<string, { stream: DescribedStream; cancelTimer: () => void }>();
  return {
    put(url, stream) {
      drop(url);
      const [oldest] = kept.keys();
      if (oldest !== undefined && kept.size >= maxKept) drop(oldest);
      kept.set(url, { stream, cancelTimer: setTimer(() => drop(url), keepMs) });
    },
    take(url) {
      const stream = remove(url);
      return stream?.client.socket.destroyed ? undefined : stream;
    },
    close: () => {
      for (const url of kept.keys()) drop(url);
    },
  };

  function remove(url: string): DescribedStream | undefined {
    const found = kept.get(url);
    found?.cancelTimer();
    kept.delete(url);
    return found?.stream;
  }

  function drop(url: string): void {
    remove(url)?.client.close();
  }
}

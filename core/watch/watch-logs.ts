import type { LogSignals } from '../ports/log-signals.ts';
import type { StoredWatch } from '../ports/watch-store.ts';
import type { WatchEvent } from '../records/watch-event.ts';
import type { WatchDeps } from './watch-deps.ts';

/** Event with its watch, and the positions of a reader who has read it. */
export type LoggedWatchEvent = { stored: StoredWatch; event: WatchEvent; positions: Positions };

/** Sequence of the newest event that a reader has, by watch. A watch without an entry is new to the reader. */
export type Positions = ReadonlyMap<string, number>;

type Deps = Pick<WatchDeps, 'watches' | 'now'> & { signals: LogSignals };

/** Maximum events per read of a log. */
const pageEvents = 100;

/** Watches whose logs one reader reads: all of a caller, or one. */
export type LogScope = { caller: string; watchId?: string };

/** Id of the signal that any watch of a caller has new events. */
export function callerSignal(caller: string): string {
  return `watches of ${caller}`;
}

/**
 * Yields new events of the watches in scope above `from`, and `null` after each read without new events. A watch that the reader does not know
 * begins with its first event that is kept. Ends if the only watch is gone, or if the signal aborts. Throws the errors of the store.
 */
export async function* tailWatchEvents(
  scope: LogScope,
  from: Positions,
  deps: Deps,
  signal: AbortSignal,
): AsyncGenerator<LoggedWatchEvent | null> {
  let positions = from;
  // Before the first read, so that no commit falls between a read and the wait.
  const log = deps.signals.watch(scope.watchId ?? callerSignal(scope.caller));
  try {
    while (!signal.aborted) {
      const page = await readWatchEvents(scope, positions, pageEvents, deps);
      if (page === undefined) return;
      for (const { stored, event } of page) {
        if (signal.aborted) return;
        positions = new Map(positions).set(event.watch_id, event.sequence);
        yield { stored, event, positions };
      }
      if (page.length > 0) continue;
      yield null;
      await log.changed(signal);
    }
  } finally {
    log.end();
  }
}

/**
 * Returns at most `limit` events of the watches in scope after `positions`, ordered by time; those of one watch by sequence. Returns
 * undefined if the only watch is gone.
 */
export async function readWatchEvents(
  scope: LogScope,
  positions: Positions,
  limit: number,
  deps: Pick<WatchDeps, 'watches' | 'now'>,
): Promise<{ stored: StoredWatch; event: WatchEvent }[] | undefined> {
  const all = await findInScope(scope, deps);
  if (scope.watchId !== undefined && all.length === 0) return undefined;
  const pages = await Promise.all(
    all.map(async (stored) => {
      const { watch_id: id } = stored.watch;
      const after = positions.get(id) ?? 0;
      if (stored.run.sequence <= after) return [];
      const events = await deps.watches.events(id, after, limit, deps.now());
      return events.map((event) => ({ stored, event }));
    }),
  );
  return mergeByTime(pages, limit);
}

/** Returns the positions of a reader who wants new events only. */
export function newestPositions(stored: readonly StoredWatch[]): Positions {
  return new Map(stored.map(({ watch, run }) => [watch.watch_id, run.sequence]));
}

export async function findInScope(
  { caller, watchId }: LogScope,
  { watches }: Pick<WatchDeps, 'watches'>,
): Promise<StoredWatch[]> {
  if (watchId === undefined) return watches.list(caller);
  const stored = await watches.get(watchId);
  return stored?.watch.caller === caller ? [stored] : [];
}

/** Merges logs by time and leaves the order of each log as stored, so that a position never goes back when the clock does. */
function mergeByTime<Entry extends { event: WatchEvent }>(logs: readonly Entry[][], limit: number): Entry[] {
  const rest = logs.map((log) => log.values());
  const heads = rest.map((log) => log.next().value);
  const merged: Entry[] = [];
  while (merged.length < limit) {
    const next = heads.reduce<number>(
      (best, head, index) =>
        head && (!heads[best] || head.event.timestamp < heads[best].event.timestamp) ? index : best,
      0,
    );
    const head = heads[next];
    if (head === undefined) break;
    merged.push(head);
    heads[next] = rest[next]?.next().value;
  }
  return merged;
}

import { eventsBeforeHole } from '../event/before-hole.ts';
import type { LogSignals } from '../ports/log-signals.ts';
import type { WatchRun } from '../records/watch-run.ts';
import type { WatchEvent } from '../records/watch-event.ts';
import type { WatchDeps } from './watch-deps.ts';

/** Event with its watch, and the positions of a reader who has read it. */
export type LoggedWatchEvent = { stored: WatchRun; event: WatchEvent; positions: Positions };

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
      const standing = await findInScope(scope, deps);
      const all = [...standing, ...(await findDeleted(standing, scope, positions, deps))];
      const page = await readLogs(all, positions, pageEvents, deps);
      if (scope.watchId !== undefined && standing.length === 0 && page.length === 0) return;
      positions = withoutGone(positions, all);
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
 * Returns at most `limit` events of `watches` after `positions`, ordered by time; those of one watch by sequence.
 */
export async function readLogs(
  watches: readonly WatchRun[],
  positions: Positions,
  limit: number,
  deps: Pick<WatchDeps, 'watches' | 'now'>,
): Promise<{ stored: WatchRun; event: WatchEvent }[]> {
  const pages = await Promise.all(
    watches.map(async (stored) => {
      const { run_id: id } = stored;
      const after = positions.get(id) ?? 0;
      if (stored.sequence <= after) return [];
      const events = await deps.watches.events(id, after, limit, deps.now());
      return eventsBeforeHole(events, after, deps.now()).map((event) => ({ stored, event }));
    }),
  );
  return mergeByTime(pages, limit);
}

/** Returns `positions` without watches that are gone, so that they do not grow for months beyond the length of a header. */
export function withoutGone(positions: Positions, watches: readonly WatchRun[]): Positions {
  const known = new Set(watches.map((watch) => watch.run_id));
  return new Map([...positions].filter(([id]) => known.has(id)));
}

/** Returns the positions of a reader who wants new events only. */
export function newestPositions(stored: readonly WatchRun[]): Positions {
  return new Map(stored.map((watch) => [watch.run_id, watch.sequence]));
}

/** Returns watches that were deleted while the reader has not read their last events. They are kept until their purge. */
export async function findDeleted(
  standing: readonly WatchRun[],
  { caller, watchId }: LogScope,
  positions: Positions,
  { watches }: Pick<WatchDeps, 'watches'>,
): Promise<WatchRun[]> {
  const ids = new Set([...positions.keys(), ...(watchId === undefined ? [] : [watchId])]);
  for (const watch of standing) ids.delete(watch.run_id);
  const found = await Promise.all([...ids].map((id) => watches.getIncludingDeleted(id)));
  return found
    .filter((stored) => stored !== undefined)
    .filter((watch) => watch.caller === caller && watch.sequence > (positions.get(watch.run_id) ?? 0));
}

async function findInScope(
  { caller, watchId }: LogScope,
  { watches }: Pick<WatchDeps, 'watches'>,
): Promise<WatchRun[]> {
  if (watchId === undefined) return watches.list(caller);
  const stored = await watches.get(watchId);
  return stored?.caller === caller ? [stored] : [];
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

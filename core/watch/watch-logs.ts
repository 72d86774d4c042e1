import { eventsBeforeHole } from '../event/tail-events.ts';
import type { LogSignals } from '../ports/event-sessions.ts';
import { asWatch, isWatchEvent } from '../records/run.ts';
import type { Feed } from '../ports/runs.ts';
import type { WatchDeps } from './commit-watch.ts';

/**
 * Event with its watch, and the position of a reader who has read it: a sequence, or a position in the feed of the
 * caller.
 */
export type LoggedWatchEvent = Feed['entries'][number];

type Deps = Pick<WatchDeps, 'runs' | 'watches' | 'now'>;

const pageEvents = 100;

/** Watches whose logs one reader reads: all of a caller, or one. */
export type LogScope = { caller: string; watchId?: string };

/** Id of the signal that any watch of a caller has new events. */
export function callerSignal(caller: string): string {
  return `watches of ${caller}`;
}

/**
 * Yields new events of the watches in scope after the position `from`, and `null` after each read without new events.
 * Ends if the only watch is gone, or if the signal aborts. Throws the errors of the store.
 */
export async function* tailWatchEvents(
  { caller, watchId }: LogScope,
  from: string,
  deps: Deps & { signals: LogSignals },
  signal: AbortSignal,
): AsyncGenerator<LoggedWatchEvent | null> {
  let position = from;
  // Before the first read, so that no commit falls between a read and the wait.
  const log = deps.signals.watch(watchId ?? callerSignal(caller));
  try {
    while (!signal.aborted) {
      const entries =
        watchId === undefined
          ? (await deps.watches.feed(caller, position, pageEvents, deps.now())).entries
          : await readLog(watchId, caller, Number(position), deps);
      if (entries === undefined) return;
      for (const entry of entries) {
        if (signal.aborted) return;
        position = entry.position;
        yield entry;
      }
      if (entries.length > 0) continue;
      yield null;
      await log.changed(signal);
    }
  } finally {
    log.end();
  }
}

/** Returns events of one watch; undefined after the last one of a deleted watch. */
async function readLog(
  watchId: string,
  caller: string,
  after: number,
  { runs, now }: Deps,
): Promise<LoggedWatchEvent[] | undefined> {
  const stored = asWatch(await runs.getIncludingEnded(watchId));
  if (stored?.caller !== caller) return undefined;
  const events = stored.sequence > after ? await runs.events(watchId, after, pageEvents, now()) : [];
  const entries = eventsBeforeHole(events.filter(isWatchEvent), after, now()).map((event) => ({
    watch: stored,
    event,
    position: String(event.sequence),
  }));
  return events.length === 0 && stored.deleted_at !== null ? undefined : entries;
}

import type { CoreDeps } from '../dependencies.ts';
import type { WatchChange, WatchStore } from '../ports/watch-store.ts';
import type { Destination, Watch } from '../records/watch.ts';
import type { WatchEvent } from '../records/watch-event.ts';
import { isWanted } from './notification.ts';

type Deps = Pick<CoreDeps, 'queue' | 'log' | 'now'> & {
  watches: Pick<WatchStore, 'getIncludingDeleted' | 'events' | 'markPublished'>;
};

const pageSize = 100;

/**
 * Returns a store that publishes the events of each creation and commit, so that no caller forgets it. A commit with checks only publishes for heartbeats,
 * and now and then, so that an alert does not wait for a long log of checks.
 */
export function publishCommits(watches: WatchStore, deps: Omit<Deps, 'watches'>): WatchStore {
  const publishing = { ...deps, watches };
  return {
    ...watches,
    create: async (creation, now) => {
      const result = await watches.create(creation, now);
      if (result.kind === 'created') await publishWatchEvents(creation.watch.watch_id, publishing);
      return result;
    },
    commit: async (change) => {
      const result = await watches.commit(change);
      if (result === 'committed' && (await isWorthPublishing(change, publishing)))
        await publishWatchEvents(change.watchId, publishing);
      return result;
    },
  };
}

async function isWorthPublishing(
  { watchId, events }: Pick<WatchChange, 'watchId' | 'events'>,
  { watches, queue }: Pick<Deps, 'watches' | 'queue'>,
): Promise<boolean> {
  if (events.some(({ type }) => type !== 'progress')) return true;
  const stored = events.length === 0 ? undefined : await watches.getIncludingDeleted(watchId);
  if (!stored || !hasReceivers(stored.watch, queue)) return false;
  const { run, watch } = stored;
  return (
    run.sequence - run.published >= pageSize ||
    watch.config.destinations.some(({ type }) => type === 'heartbeat')
  );
}

function hasReceivers({ config }: Watch, { hasBus }: Deps['queue']): boolean {
  return config.destinations.length > 0 || hasBus === true;
}

/** Publishes events that an interrupted commit or a full queue has left, of at most `limit` watches. */
export async function publishDueWatchEvents(
  deps: Deps & { watches: Pick<WatchStore, 'dueForRepair'> },
  limit: number,
): Promise<void> {
  for (const watchId of await deps.watches.dueForRepair(deps.now(), limit))
    await publishWatchEvents(watchId, deps);
}

/**
 * Sends the events after `published` to the delivery queue, in order: one message per destination that wants the event, and one for the event bus. Logs a failure and never
 * throws: the next tick or `reconcile` publishes the events.
 */
export async function publishWatchEvents(watchId: string, deps: Deps): Promise<void> {
  try {
    await publish(watchId, deps);
  } catch (error) {
    deps.log.warning('Events of a watch not published yet; reconcile publishes them', {
      watch_id: watchId,
      error: String(error),
    });
  }
}

async function publish(watchId: string, deps: Deps): Promise<void> {
  const stored = await deps.watches.getIncludingDeleted(watchId);
  if (!stored) return;
  const { destinations } = stored.watch.config;
  const { sequence } = stored.run;
  let { published } = stored.run;
  while (published < sequence) {
    const events = hasReceivers(stored.watch, deps.queue)
      ? await deps.watches.events(watchId, published, pageSize, deps.now())
      : [];
    for (const event of events) await send(event, destinations, deps);
    // Events that have expired are not in the log.
    published = events.length < pageSize ? sequence : (events.at(-1)?.sequence ?? sequence);
    await deps.watches.markPublished(watchId, published);
  }
}

async function send(event: WatchEvent, destinations: readonly Destination[], { queue }: Deps): Promise<void> {
  const { watch_id: id, sequence } = event;
  const alert = { alert_id: 'alert_id' in event.data ? event.data.alert_id : null };
  for (const destination of destinations) {
    if (!isWanted(destination, event)) continue;
    await queue.send({ watch_id: id, sequence, destination_id: destination.destination_id, ...alert });
  }
  if (queue.hasBus && event.type !== 'progress') await queue.send({ bus: 'watch', id, sequence, ...alert });
}

import type { WatchChange, WatchStore } from '../ports/watch-store.ts';
import type { DeliveryStore } from '../ports/delivery.ts';
import type { DestinationState, QueueMessage } from '../records/delivery.ts';
import type { Destination, Watch } from '../records/watch.ts';
import type { WatchEvent } from '../records/watch-event.ts';
import { pageSize, publishQuietly } from './publish.ts';
import type { PublishDeps } from './publish.ts';
import { currentState } from './destination-state.ts';
import { findSubject, isEnding, isOpening, isWanted } from './receivers.ts';

type WatchDeps = PublishDeps & {
  watches: Pick<WatchStore, 'getIncludingDeleted' | 'events' | 'markPublished'>;
  deliveries: Pick<DeliveryStore, 'states' | 'changeState'>;
};

/** Publishes the events of a watch, as `publishEvents`. */
export function publishWatchEvents(watchId: string, deps: WatchDeps): Promise<void> {
  return publishQuietly({ run: 'watch', run_id: watchId }, deps, async () => {
    const stored = await deps.watches.getIncludingDeleted(watchId);
    return (
      stored && {
        ...stored.run,
        hasReceivers: watchHasReceivers(stored.watch, deps),
        read: (after) => deps.watches.events(watchId, after, pageSize, deps.now()),
        markPublished: (sequence) => deps.watches.markPublished(watchId, sequence),
        toMessages: (event: WatchEvent) => toWatchMessages(event, stored.watch, deps),
        afterMessages: (event) => forgetEnded(event, stored.watch, deps),
      }
    );
  });
}

/** Returns a store of watches that publishes after each creation and commit with events for somebody, so that no caller forgets it. */
export function publishCommits(watches: WatchStore, deps: Omit<WatchDeps, 'watches'>): WatchStore {
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
  deps: WatchDeps,
): Promise<boolean> {
  if (events.some(({ type }) => type !== 'progress')) return true;
  const stored = events.length === 0 ? undefined : await deps.watches.getIncludingDeleted(watchId);
  if (!stored || !watchHasReceivers(stored.watch, deps)) return false;
  const { run, watch } = stored;
  return (
    run.sequence - run.published >= pageSize ||
    watch.config.destinations.some(({ type }) => type === 'heartbeat')
  );
}

/** Publishes events that an interrupted commit or a full queue has left, of at most `limit` watches. */
export async function publishDueWatchEvents(
  deps: WatchDeps & { watches: Pick<WatchStore, 'dueForRepair'> },
  limit: number,
): Promise<void> {
  for (const watchId of await deps.watches.dueForRepair(deps.now(), limit))
    await publishWatchEvents(watchId, deps);
}

function watchHasReceivers({ config }: Watch, { queue }: PublishDeps): boolean {
  return config.destinations.length > 0 || queue.hasBus === true;
}

async function toWatchMessages(
  event: WatchEvent,
  { config }: Watch,
  { queue, deliveries }: WatchDeps,
): Promise<QueueMessage[]> {
  const { watch_id: id, sequence } = event;
  const subject = findSubject(event);
  const isAboutOpening = event.type !== 'watch_changed' && event.type !== 'progress';
  const states = isAboutOpening ? await deliveries.states({ run: 'watch', run_id: id }) : [];
  const receivers = config.destinations.filter((destination) =>
    isWanted(destination, event, findState(destination, states)?.notified),
  );
  if (isOpening(event))
    for (const receiver of receivers)
      await changeNotified(id, receiver, (notified) => [...new Set([...notified, subject])], deliveries);
  return [
    ...receivers.map(({ destination_id }) => {
      const message = { run: 'watch', run_id: id, sequence, destination_id, subject } as const;
      return { ...message, resend: 0, attempt: 0 };
    }),
    ...(queue.hasBus && event.type !== 'progress' ? [{ bus: 'watch', id, sequence, subject } as const] : []),
  ];
}

/** Forgets that destinations were notified of an opening that has ended. */
async function forgetEnded(event: WatchEvent, { config }: Watch, { deliveries }: WatchDeps): Promise<void> {
  if (!isEnding(event)) return;
  const { watch_id: id } = event;
  const subject = findSubject(event);
  const states = await deliveries.states({ run: 'watch', run_id: id });
  for (const destination of config.destinations)
    if (findState(destination, states)?.notified.includes(subject))
      await changeNotified(
        id,
        destination,
        (notified) => notified.filter((each) => each !== subject),
        deliveries,
      );
}

function findState(
  { destination_id: id, fingerprint }: Destination,
  states: readonly DestinationState[],
): DestinationState | undefined {
  return states.find((state) => state.destination_id === id && state.fingerprint === fingerprint);
}

async function changeNotified(
  watchId: string,
  { destination_id, fingerprint }: Destination,
  change: (notified: string[]) => string[],
  { changeState }: WatchDeps['deliveries'],
): Promise<void> {
  const destination = { run: 'watch', run_id: watchId, destination_id, fingerprint } as const;
  await changeState(destination, (stored) => {
    const state = currentState(destination, stored);
    return { ...state, notified: change(state.notified) };
  });
}

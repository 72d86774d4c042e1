import type { WatchChange, WatchStore } from '../ports/watch-store.ts';
import type { DeliveryStore } from '../ports/delivery.ts';
import type { DestinationState, QueueMessage } from '../records/delivery.ts';
import type { Destination, Watch } from '../records/watch.ts';
import type { WatchEvent } from '../records/watch-event.ts';
import { pageSize, publishQuietly } from './publish.ts';
import type { PublishDeps } from './publish.ts';
import { addOpening, currentState, removeOpenings } from './destination-state.ts';
import type { AddressedDestination } from './destination-state.ts';
import { findSubject, hasDestinations, isEnding, isOpening, isWanted } from './receivers.ts';

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
        ...stored,
        hasReceivers: watchHasReceivers(stored, deps),
        read: (after) => deps.watches.events(watchId, after, pageSize, deps.now()),
        markPublished: (sequence) => deps.watches.markPublished(watchId, sequence),
        toMessages: (event: WatchEvent) => toWatchMessages(event, stored, deps),
        afterMessages: (event) => forgetEnded(event, stored, deps),
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
      if (result.kind === 'created') await publishWatchEvents(creation.run_id, publishing);
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
  if (!stored || !watchHasReceivers(stored, deps)) return false;
  return (
    stored.sequence - stored.published >= pageSize ||
    stored.config.destinations.some(({ type }) => type === 'heartbeat')
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

function watchHasReceivers(watch: Watch, { queue }: PublishDeps): boolean {
  return hasDestinations(watch) || queue.hasBus === true;
}

async function toWatchMessages(
  event: WatchEvent,
  { config, former_destinations: former = [] }: Watch,
  { queue, deliveries }: WatchDeps,
): Promise<QueueMessage[]> {
  const { watch_id: id, sequence } = event;
  const subject = findSubject(event);
  const states = await readStates(event, deliveries);
  const receivers = config.destinations.filter((destination) =>
    isWanted(destination, event, findState(destination, id, states).notified),
  );
  if (isOpening(event))
    for (const receiver of receivers)
      await changeState(receiver, id, (state) => addOpening(state, { subject, sequence }), deliveries);
  const message = { run: 'watch', run_id: id, sequence, resend: 0, attempt: 0 } as const;
  return [
    ...receivers.map(({ destination_id }) => ({ ...message, destination_id, subject })),
    ...former
      .filter((each) => each.sequence === sequence)
      .map(({ former_id }) => ({ ...message, destination_id: former_id, subject: 'former' })),
    ...(queue.hasBus && event.type !== 'progress' ? [{ bus: 'watch', id, sequence, subject } as const] : []),
  ];
}

/** Forgets openings that have ended. Those that a destination accepted stay until it has accepted the end. */
async function forgetEnded(event: WatchEvent, { config }: Watch, { deliveries }: WatchDeps): Promise<void> {
  if (!isEnding(event)) return;
  const { watch_id: id, sequence } = event;
  const states = await readStates(event, deliveries);
  for (const destination of config.destinations) {
    const { notified } = findState(destination, id, states);
    const kept = isWanted(destination, event, notified) ? 'delivered' : 'none';
    const forget = (state: DestinationState) =>
      removeOpenings(state, { subject: findSubject(event), sequence }, kept);
    if (notified.length > 0) await changeState(destination, id, forget, deliveries);
  }
}

/** Receipt of an opening concerns the events of alerts and of the stream. */
async function readStates(
  { type, watch_id: id }: WatchEvent,
  deliveries: WatchDeps['deliveries'],
): Promise<DestinationState[]> {
  return type === 'watch_changed' || type === 'progress'
    ? []
    : deliveries.states({ run: 'watch', run_id: id });
}

function findState(
  destination: Destination,
  watchId: string,
  states: readonly DestinationState[],
): DestinationState {
  const { destination_id: id } = destination;
  const stored = states.find((state) => state.destination_id === id);
  return currentState(address(destination, watchId), stored);
}

async function changeState(
  destination: Destination,
  watchId: string,
  change: (state: DestinationState) => DestinationState,
  deliveries: WatchDeps['deliveries'],
): Promise<void> {
  const addressed = address(destination, watchId);
  await deliveries.changeState(addressed, (stored) => change(currentState(addressed, stored)));
}

function address({ destination_id, fingerprint }: Destination, watchId: string): AddressedDestination {
  return { run: 'watch', run_id: watchId, destination_id, fingerprint };
}

import type { CoreDeps } from '../dependencies.ts';
import type { DeliveryStore } from '../ports/delivery.ts';
import type { DestinationState, QueueMessage } from '../records/delivery.ts';
import type { Destination, Watch } from '../records/watch.ts';
import type { WatchEvent } from '../records/watch-event.ts';
import { addOpening, currentState, removeOpenings } from './destination-state.ts';
import type { AddressedDestination } from './destination-state.ts';
import { findSubject, isEnding, isOpening, isWanted } from './receivers.ts';

export type WatchPublishDeps = Pick<CoreDeps, 'queue'> & {
  deliveries: Pick<DeliveryStore, 'states' | 'changeState'>;
};

/** Sends an event of a watch to the delivery queue, once for each destination that receives it, and keeps what each was notified of. */
export async function publishWatchEvent(
  event: WatchEvent,
  watch: Watch,
  deps: WatchPublishDeps,
): Promise<void> {
  for (const message of await toMessages(event, watch, deps)) await deps.queue.send(message);
  await forgetEnded(event, watch, deps);
}

async function toMessages(
  event: WatchEvent,
  { config, former_destinations: former }: Watch,
  { queue, deliveries }: WatchPublishDeps,
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
async function forgetEnded(
  event: WatchEvent,
  { config }: Watch,
  { deliveries }: WatchPublishDeps,
): Promise<void> {
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
  deliveries: WatchPublishDeps['deliveries'],
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
  deliveries: WatchPublishDeps['deliveries'],
): Promise<void> {
  const addressed = address(destination, watchId);
  await deliveries.changeState(addressed, (stored) => change(currentState(addressed, stored)));
}

function address({ destination_id, fingerprint }: Destination, watchId: string): AddressedDestination {
  return { run: 'watch', run_id: watchId, destination_id, fingerprint };
}

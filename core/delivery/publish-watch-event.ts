import type { CoreDeps } from '../dependencies.ts';
import type { DeliveryStore } from '../ports/delivery.ts';
import type { DestinationState, QueueMessage } from '../records/delivery.ts';
import type { Destination, Watch } from '../records/watch.ts';
import type { WatchEvent } from '../records/watch-event.ts';
import { addOpening, currentState, removeOpenings, type AddressedDestination } from './destination-state.ts';
import { findPart, findSubject, isWanted } from './receivers.ts';

export type WatchPublishDeps = Pick<CoreDeps, 'queue'> & {
  deliveries: Pick<DeliveryStore, 'states' | 'changeState'>;
};

/**
 * Sends an event of a watch to the delivery queue, once for each destination that receives it, and keeps what each was
 * notified of.
 */
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
  { config }: Watch,
  { queue, deliveries }: WatchPublishDeps,
): Promise<QueueMessage[]> {
  const { watch_id: id, sequence } = event;
  const subject = findSubject(event);
  const states = await readStates(event, deliveries);
  const receivers = config.destinations.filter((destination) =>
    isWanted(destination, event, findState(destination, id, states).notified),
  );
  if (findPart(event) === 'opening')
    for (const receiver of receivers)
      await changeState(receiver, id, (state) => addOpening(state, { subject, sequence }), deliveries);
  const message = { run: 'watch', run_id: id, sequence, resend: 0, attempt: 0 } as const;
  return [
    ...receivers.map(({ destination_id }) => ({ ...message, destination_id, subject })),
    ...(event.type === 'alert_opened' && config.evidence_clip ? [{ clip: id, sequence }] : []),
    ...(queue.hasBus && event.type !== 'progress' ? [{ bus: 'watch', id, sequence, subject } as const] : []),
  ];
}

/** Forgets openings whose end a destination does not want. Other ones stay until an attempt of it. */
async function forgetEnded(
  event: WatchEvent,
  { config }: Watch,
  { deliveries }: WatchPublishDeps,
): Promise<void> {
  if (findPart(event) !== 'ending') return;
  const { watch_id: id, sequence } = event;
  const subject = findSubject(event);
  const states = await readStates(event, deliveries);
  for (const destination of config.destinations) {
    const { notified } = findState(destination, id, states);
    const isOver = !isWanted(destination, event, notified);
    if (isOver && notified.some((opening) => opening.subject === subject))
      await changeState(destination, id, (state) => removeOpenings(state, { subject, sequence }), deliveries);
  }
}

/** Receipt of an opening concerns what it begins. */
async function readStates(
  event: WatchEvent,
  deliveries: WatchPublishDeps['deliveries'],
): Promise<DestinationState[]> {
  const isAlone = findPart(event) === undefined && !('alert_id' in event.data);
  return isAlone ? [] : deliveries.states({ run: 'watch', run_id: event.watch_id });
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

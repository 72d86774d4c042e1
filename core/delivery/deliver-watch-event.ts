import type { CoreDeps } from '../dependencies.ts';
import type { DestinationResult, Destinations } from '../ports/destinations.ts';
import type { WatchDeliveryStore } from '../ports/watch-deliveries.ts';
import type { WatchStore } from '../ports/watch-store.ts';
import { secondsUntilAttempt } from '../records/delivery.ts';
import type { WatchMessage } from '../records/delivery.ts';
import type { Destination, DestinationAddress, Watch } from '../records/watch.ts';
import { initialWatchDelivery } from '../records/watch-delivery.ts';
import type { DestinationState, WatchDelivery } from '../records/watch-delivery.ts';
import type { WatchEvent } from '../records/watch-event.ts';
import type { WatchRun } from '../records/watch-run.ts';
import { rules } from '../rules.ts';
import { isAllWell } from '../watch/health.ts';
import { ageSeconds, isOver } from '../time.ts';
import { afterAttempt, describeDeliveryFailure, destinationSchedule, giveUp } from './after-attempt.ts';
import type { DeliveryOutcome } from './deliver-event.ts';
import type { EvidenceLinks } from './evidence-link.ts';
import { recordAttempt, currentState } from './destination-state.ts';
import { toNotification } from './notification.ts';

export type WatchDeliverDeps = Pick<CoreDeps, 'media' | 'meter' | 'log' | 'now' | 'random'> & {
  watches: Pick<WatchStore, 'getIncludingDeleted' | 'event' | 'secrets'>;
  watchDeliveries: WatchDeliveryStore;
  destinations: Destinations;
  evidenceLinks: EvidenceLinks;
};

type Target = {
  watch: Watch;
  run: WatchRun;
  event: WatchEvent;
  destination: Destination;
  address: DestinationAddress;
  state: DestinationState;
  delivery: WatchDelivery;
};

/**
 * Makes one attempt to deliver an event of a watch to one destination. A message may arrive twice or early. The message stays at the head of its group
 * until the delivery ends, about a day at most, so that events of one alert keep their order at the destination.
 */
export async function deliverWatchEvent(
  message: WatchMessage,
  deps: WatchDeliverDeps,
): Promise<DeliveryOutcome> {
  const target = await findTarget(message, deps);
  if (target?.delivery.state !== 'pending') return { kind: 'done' };
  const { delivery, state, destination } = target;
  if (state.disabled !== null) {
    const why = `the destination is disabled: ${state.disabled.reason}`;
    return finish(giveUp(delivery, { why, gone: true }, destinationSchedule.failure), deps);
  }
  if (destination.type === 'heartbeat') return beat(target, deps);
  const waitSeconds = Math.max(
    secondsUntilAttempt(delivery, deps.now()),
    spacingSeconds(destination, state, deps),
  );
  return waitSeconds > 0 ? { kind: 'again', afterSeconds: waitSeconds } : attempt(target, deps);
}

/** Returns undefined if watch, event or destination no longer exist. */
async function findTarget(
  { watch_id: watchId, sequence, destination_id: id }: WatchMessage,
  { watches, watchDeliveries }: WatchDeliverDeps,
): Promise<Target | undefined> {
  const [stored, event, secrets] = await Promise.all([
    watches.getIncludingDeleted(watchId),
    watches.event(watchId, sequence),
    watches.secrets(watchId),
  ]);
  const destination = stored?.watch.config.destinations.find((each) => each.destination_id === id);
  const address = secrets?.destinations.find((each) => each.destination_id === id);
  if (!stored || !event || !destination || !address) return undefined;
  const [delivery, state] = await Promise.all([
    watchDeliveries.get(watchId, sequence, id),
    watchDeliveries.state(watchId, id),
  ]);
  const key = { watch_id: watchId, sequence, destination_id: id };
  return {
    watch: stored.watch,
    run: stored.run,
    event,
    destination,
    address,
    delivery: delivery ?? initialWatchDelivery(key, event.type),
    state: currentState(watchId, destination, state),
  };
}

/** Returns the rest of the minimum time between attempts at an address. Receivers of the caller have none. */
function spacingSeconds(
  { type }: Destination,
  { last_attempt_at: last }: DestinationState,
  { now }: WatchDeliverDeps,
): number {
  if (last === null || type === 'webhook' || type === 'mqtt') return 0;
  return Math.max(0, rules.minDestinationSpacingSeconds - ageSeconds(last, now()));
}

/** Calls the address of a heartbeat once while all is well, at most every `heartbeatSeconds`. A failed call is not repeated: the next check makes another. */
async function beat(target: Target, deps: WatchDeliverDeps): Promise<DeliveryOutcome> {
  const { watch, run, event, destination, address, state } = target;
  const { last_attempt_at: last } = state;
  if (!isAllWell(run, destination.destination_id)) return { kind: 'done' };
  if (last !== null && !isOver(last, rules.heartbeatSeconds, deps.now())) return { kind: 'done' };
  const notification = await toNotification(event, watch, destination, deps);
  const result = await deps.destinations.send(address, notification);
  await storeAttempt(target, result, deps);
  return { kind: 'done' };
}

async function attempt(target: Target, deps: WatchDeliverDeps): Promise<DeliveryOutcome> {
  const { watch, event, destination, address, delivery } = target;
  const due = delivery.next_attempt_at ?? event.timestamp;
  const startedAt = deps.now();
  const notification = await toNotification(event, watch, destination, deps);
  await deps.meter.count({ kind: 'delivery_attempt', lateSeconds: ageSeconds(due, startedAt) });
  const result = { ...(await deps.destinations.send(address, notification)), startedAt };
  const now = deps.now();
  const attempted = afterAttempt(delivery, result, now, deps.random(), destinationSchedule);
  const after = await storeAttempt(target, result, deps);
  report(attempted, after, deps);
  if (attempted.next_attempt_at === null) return finish(attempted, deps);
  await deps.watchDeliveries.put(attempted, now);
  return { kind: 'again', afterSeconds: ageSeconds(now, new Date(attempted.next_attempt_at)) };
}

function storeAttempt(
  { watch, destination }: Target,
  result: DestinationResult,
  { watchDeliveries, now }: WatchDeliverDeps,
): Promise<DestinationState> {
  const at = now();
  return watchDeliveries.changeState(watch.watch_id, destination.destination_id, (stored) =>
    recordAttempt(
      currentState(watch.watch_id, destination, stored),
      result,
      at,
      describeDeliveryFailure(result),
    ),
  );
}

async function finish(delivery: WatchDelivery, deps: WatchDeliverDeps): Promise<DeliveryOutcome> {
  await deps.watchDeliveries.put(delivery, deps.now());
  await deps.meter.count({ kind: 'delivery', delivered: delivery.state === 'delivered' });
  return { kind: 'done' };
}

function report(delivery: WatchDelivery, state: DestinationState, { log }: WatchDeliverDeps): void {
  const { watch_id, destination_id, sequence, event_type: event, next_attempt_at } = delivery;
  const fields = { watch_id, destination_id, event, sequence };
  if (state.disabled !== null)
    log.error('Destination disabled', { ...fields, reason: state.disabled.reason });
  else if (delivery.state === 'delivered') log.info('Event delivered to destination', fields);
  else if (delivery.state === 'failed') log.error(delivery.error ?? 'Failed to deliver', fields);
  else log.warning('Destination attempt failed', { ...fields, error: state.last_error, next_attempt_at });
}

import type { DeliveryOutcome, DestinationResult } from '../ports/delivery.ts';
import { runLog } from '../ports/observability.ts';
import type { Delivery, DeliveryMessage, DestinationState, WaitingEvent } from '../records/delivery.ts';
import { describeDeliveryFailure } from './after-attempt.ts';
import { afterOpenings } from './burst.ts';
import { describeDelivery, type DeliverDeps, type Target } from './delivery-target.ts';
import {
  acceptOpening,
  currentState,
  findHeads,
  recordAttempt,
  removeOpening,
  removeOpenings,
  removeWaiting,
} from './destination-state.ts';

/** Records of a delivery: its attempt, the state of its destination, the events that it wakes, counts and log. */

/**
 * A message with what is stored about it. `attempts` are those of its series, `wait` the seconds until the next is due.
 */
export type Arrival = {
  message: DeliveryMessage;
  target: Target;
  delivery: Delivery;
  attempts: number;
  wait: number;
};

export const done: DeliveryOutcome = { kind: 'done' };

/**
 * The state of a job's webhook only says whether it is gone; most deliveries write none. The state of a new address
 * gets nothing but the wait.
 */
export async function storeResult(
  { target }: Arrival,
  result: DestinationResult,
  deps: DeliverDeps,
  wait: (state: DestinationState) => DestinationState,
): Promise<DestinationState> {
  const record = (state: DestinationState) =>
    isMoved(state, target)
      ? state
      : recordAttempt(state, result, deps.now(), describeDeliveryFailure(result));
  const isNews =
    result.outcome === 'gone' || (result.outcome === 'delivered' && target.state.disabled !== null);
  if (!target.isOrdered) return isNews ? changeState(target, record, deps) : target.state;
  const isTold = target.readOpening !== undefined && result.outcome === 'delivered';
  const count = (state: DestinationState) => (isTold ? afterOpenings(state, deps.now()) : state);
  return changeState(target, (state) => wait(count(record(state))), deps);
}

export function changeState(
  target: Target,
  change: (state: DestinationState) => DestinationState,
  { deliveries }: DeliverDeps,
): Promise<DestinationState> {
  return deliveries.changeState(target.destination, (stored) => change(findCurrentState(target, stored)));
}

/**
 * Returns the state of the address that the destination has now: a change may have given it another one since the
 * target was read.
 */
export function findCurrentState(
  { destination, storedFingerprint }: Target,
  stored: DestinationState | undefined,
): DestinationState {
  return stored && stored.fingerprint !== storedFingerprint ? stored : currentState(destination, stored);
}

/** Returns true for the state of another address than that of the attempt. */
function isMoved({ fingerprint }: DestinationState, { destination }: Target): boolean {
  return fingerprint !== destination.fingerprint;
}

/**
 * Wakes the next event of the subject; after a success the first of every subject, since the destination accepts events
 * again.
 */
export async function wake(
  message: DeliveryMessage,
  state: DestinationState,
  outcome: DestinationResult['outcome'],
  { queue }: DeliverDeps,
): Promise<void> {
  const { run, run_id, destination_id } = message;
  const isWoken = ({ subject }: WaitingEvent) => outcome === 'delivered' || subject === message.subject;
  for (const { attempts, ...event } of findHeads(state).filter(isWoken))
    await queue.send({ run, run_id, destination_id, ...event, attempt: attempts + 1, woken: true });
}

/**
 * Returns the state after the last attempt of an event: it waits no more, and the destination has accepted an opening,
 * or needs no end any more. A new address does not need the end of what the one before accepted.
 */
export function recordEnd(
  state: DestinationState,
  { message, target }: Pick<Arrival, 'message' | 'target'>,
  { outcome, receipt }: Pick<DestinationResult, 'outcome' | 'receipt'>,
): DestinationState {
  const ended = removeWaiting(state, message.sequence);
  if (target.part === 'ending') return removeOpenings(ended, message);
  if (outcome !== 'delivered') return ended;
  return isMoved(state, target)
    ? removeOpening(ended, message.sequence)
    : acceptOpening(ended, message.sequence, receipt);
}

export async function finish(
  delivery: Delivery,
  deps: DeliverDeps,
  isMail = false,
): Promise<DeliveryOutcome> {
  await deps.deliveries.put(delivery, deps.now());
  return countEnd(delivery, deps, isMail);
}

export async function countEnd(
  { state }: Delivery,
  { meter }: DeliverDeps,
  isMail: boolean,
): Promise<DeliveryOutcome> {
  await meter.count({ kind: 'delivery', delivered: state === 'delivered', isMail });
  return done;
}

export function report(delivery: Delivery, result: DestinationResult, deps: DeliverDeps): void {
  const log = runLog(deps.log, delivery);
  const { next_attempt_at } = delivery;
  const fields = {
    ...describeDelivery(delivery),
    status: result.status,
    error: result.error,
    ...(result.isPictureRefused && { picture: 'refused' }),
  };
  if (result.outcome === 'gone')
    log.error('Destination disabled', { ...fields, reason: describeDeliveryFailure(result) });
  else if (delivery.state === 'delivered') log.info('Event delivered', fields);
  else if (delivery.state === 'pending')
    log.warning('Delivery attempt failed', { ...fields, next_attempt_at });
  else log.error(delivery.error ?? 'Failed to deliver', fields);
}

import { TransientError } from '../errors.ts';
import type { DeliveryOutcome } from '../ports/delivery.ts';
import type { DestinationResult } from '../ports/destinations.ts';
import { runLog } from '../ports/log.ts';
import { initialDelivery, secondsUntilAttempt } from '../records/delivery.ts';
import type { Delivery, DeliveryMessage, DestinationState, WaitingEvent } from '../records/delivery.ts';
import { rules } from '../rules.ts';
import { ageSeconds } from '../time.ts';
import {
  afterAttempt,
  applyResend,
  countAttempts,
  describeDeliveryFailure,
  giveUp,
} from './after-attempt.ts';
import { describeDelivery, findTarget } from './delivery-target.ts';
import type { DeliverDeps, Target } from './delivery-target.ts';
import { isEnding, isOpening } from './receivers.ts';
import {
  acceptOpening,
  addWaiting,
  beginAttempt,
  currentState,
  findHeads,
  isHeldBack,
  keepWaiting,
  recordAttempt,
  removeOpenings,
  removeWaiting,
} from './destination-state.ts';

/**
 * Makes one attempt to deliver an event to a destination. A message may arrive twice or early: a finished delivery is skipped, and an attempt that is
 * not due waits. A crash between the attempt and its record repeats the attempt with the same id. A resend starts a new series of attempts, also after a
 * failed delivery. After a failed first attempt or a defect, the delivery continues in a message group of its own. At a destination of a watch it holds
 * back later events of its subject, and a success there ends all waits; a job's later events do not wait. A transient error keeps its place in the order.
 */
export async function deliver(message: DeliveryMessage, deps: DeliverDeps): Promise<DeliveryOutcome> {
  try {
    return await handleMessage(message, deps);
  } catch (error) {
    if (message.attempt > 0 || error instanceof TransientError) throw error;
    runLog(deps.log, message).error('Delivery failed, moved to a message group of its own', {
      sequence: message.sequence,
      error: String(error),
    });
    return continueInOwnGroup(message, 1, deps);
  }
}

type Attempt = { message: DeliveryMessage; target: Target; delivery: Delivery };

async function handleMessage(message: DeliveryMessage, deps: DeliverDeps): Promise<DeliveryOutcome> {
  const [target, stored] = await Promise.all([findTarget(message, deps), deps.deliveries.get(message)]);
  if (typeof target === 'string')
    return stored?.state === 'pending' ? abandon(message, stored, target, deps) : done;
  if (target.beat) return beat(target, deps);
  const delivery = applyResend(stored ?? initialDelivery(message, target.event.type), message.resend);
  if (delivery.state !== 'pending' || message.resend < delivery.resend) {
    await target.former?.erase();
    return done;
  }
  const attempts = countAttempts(delivery);
  const attempt = { message, target, delivery };
  // A process that was killed left the retries in the first group.
  if (message.attempt === 0 && attempts > 0) return continueKilled(attempt, attempts, deps);
  if (message.resend === 0 && target.refusal !== undefined) return refuse(attempt, target.refusal, deps);
  const isHeld = message.resend === 0 && target.holdsBack && isHeldBack(target.state, message);
  // It was attempted since it was woken.
  const isLate = message.woken === true && message.attempt !== attempts + 1;
  if (isLate && isBesideWait(message)) return done;
  if (isHeld) return message.woken ? done : holdBack(attempt, deps);
  const plannedSeconds = message.woken && !isLate ? 0 : secondsUntilAttempt(delivery, deps.now());
  const waitSeconds = plannedSeconds || target.takeTurn();
  if (waitSeconds > 0) return { kind: 'again', afterSeconds: waitSeconds };
  if (message.attempt > 0 && !(await begin(attempt, deps)))
    return isBesideWait(message) ? done : { kind: 'again', afterSeconds: rules.underWaySeconds };
  return makeAttempt(attempt, deps);
}

const done: DeliveryOutcome = { kind: 'done' };

/** Returns true for a message that wakes an event whose planned attempt has a message. One that was held back has none: the message that waits for the wake returns too late. */
function isBesideWait({ woken, attempt }: DeliveryMessage): boolean {
  return woken === true && attempt > 1;
}

async function continueKilled(
  { message, target }: Attempt,
  attempts: number,
  deps: DeliverDeps,
): Promise<DeliveryOutcome> {
  const { sequence, subject, resend } = message;
  const waiting = { sequence, subject, attempts, resend };
  if (target.keepsState) await changeState(target, (state) => keepWaiting(state, waiting), deps);
  return continueInOwnGroup(message, attempts, deps);
}

/** Sends the message again, to the group of this event alone, and completes this one. */
async function continueInOwnGroup(
  message: DeliveryMessage,
  attempt: number,
  { queue }: Pick<DeliverDeps, 'queue'>,
): Promise<DeliveryOutcome> {
  await queue.send({ ...message, attempt });
  return done;
}

/** Calls the address of a heartbeat once while all is well, at most every `heartbeatSeconds`. The next check makes another call. */
async function beat(target: Target, deps: DeliverDeps): Promise<DeliveryOutcome> {
  if (target.beat?.isDue && target.refusal === undefined && target.takeTurn() === 0)
    await changeState(target, afterResult(await target.send(), deps.now()), deps);
  return done;
}

/** Returns false if another attempt of the event is under way, or has ended since its delivery was read. */
async function begin({ message, target, delivery }: Attempt, deps: DeliverDeps): Promise<boolean> {
  if (!target.keepsState) return true;
  let begun: DestinationState | undefined;
  await changeState(
    target,
    (state) => (begun = beginAttempt(state, target.state, message.sequence, deps.now())) ?? state,
    deps,
  );
  if (!begun) return false;
  const stored = await deps.deliveries.get(message);
  return stored === undefined || countAttempts(stored) === countAttempts(delivery);
}

/** Ends a delivery whose event or destination is gone. Later events must not wait for it if the destination is added again. */
async function abandon(
  message: DeliveryMessage,
  delivery: Delivery,
  why: string,
  deps: DeliverDeps,
): Promise<DeliveryOutcome> {
  const known = message.run === 'watch' ? await deps.deliveries.state(message) : undefined;
  if (known) await stopWaiting(message, known, (state) => state ?? known, deps);
  return finish(giveUp(delivery, why), deps);
}

async function refuse(attempt: Attempt, why: string, deps: DeliverDeps): Promise<DeliveryOutcome> {
  await release(attempt, deps);
  return finish(giveUp(attempt.delivery, why), deps, attempt.target);
}

/** Waits until the earlier event of the subject has ended, which wakes this one. */
async function holdBack({ message, target, delivery }: Attempt, deps: DeliverDeps): Promise<DeliveryOutcome> {
  const { sequence, subject } = message;
  const age = ageSeconds(target.event.timestamp, deps.now());
  const afterSeconds = Math.max(rules.heldBackSeconds, age * rules.heldBackShare);
  if (message.attempt > 0) return { kind: 'again', afterSeconds };
  const waiting = { sequence, subject, attempts: 0, resend: 0 };
  await changeState(target, (state) => addWaiting(state, waiting), deps);
  await deps.deliveries.put(delivery, deps.now());
  return continueInOwnGroup(message, 1, deps);
}

async function makeAttempt(attempt: Attempt, deps: DeliverDeps): Promise<DeliveryOutcome> {
  const { message, target, delivery } = attempt;
  await reportLateness(attempt, deps);
  const startedAt = deps.now();
  const result = { ...(await target.send()), startedAt };
  const attemptedAt = deps.now();
  const attempted = afterAttempt(delivery, result, attemptedAt, deps.random(), target.former?.until);
  const { next_attempt_at: next } = attempted;
  const attempts = countAttempts(attempted);
  report(attempted, result, deps);
  if (next === null) {
    const state = await storeResult(attempt, result, deps, (before) => recordEnd(before, attempt, result));
    const outcome = await finish(attempted, deps, target);
    await wake(message, state, result, deps);
    return outcome;
  }
  const { sequence, subject, resend } = message;
  const waiting = { sequence, subject, attempts, resend };
  // Before the end of the attempt in the state, so that who begins the next one reads it.
  await deps.deliveries.put(attempted, attemptedAt);
  await storeResult(attempt, result, deps, (before) => addWaiting(before, waiting));
  if (message.attempt === 0) return continueInOwnGroup(message, attempts, deps);
  if (isBesideWait(message)) return done;
  return { kind: 'again', afterSeconds: ageSeconds(attemptedAt, new Date(next)) };
}

/** Counts how much later than planned the attempt begins. A resend has no planned time for its first attempt. */
async function reportLateness({ message, target, delivery }: Attempt, deps: DeliverDeps): Promise<void> {
  const due = delivery.next_attempt_at ?? (delivery.resend === 0 ? target.event.timestamp : null);
  if (due !== null && !message.woken)
    await deps.meter.count({ kind: 'delivery_attempt', lateSeconds: ageSeconds(due, deps.now()) });
}

/** The state of a job's webhook only says whether it is gone; most deliveries write none. */
async function storeResult(
  { target }: Attempt,
  result: DestinationResult,
  deps: DeliverDeps,
  wait: (state: DestinationState) => DestinationState,
): Promise<DestinationState> {
  const record = afterResult(result, deps.now());
  if (target.keepsState) return changeState(target, (state) => wait(record(state)), deps);
  const isNews =
    result.outcome === 'gone' || (result.outcome === 'delivered' && target.state.disabled !== null);
  return isNews ? changeState(target, record, deps) : target.state;
}

function afterResult(result: DestinationResult, at: Date): (state: DestinationState) => DestinationState {
  return (state) => recordAttempt(state, result, at, describeDeliveryFailure(result));
}

function changeState(
  { destination }: Target,
  change: (state: DestinationState) => DestinationState,
  { deliveries }: DeliverDeps,
): Promise<DestinationState> {
  return deliveries.changeState(destination, (stored) => change(currentState(destination, stored)));
}

/** Ends the wait of an event that is given up, and wakes the next one of its subject. */
async function release({ message, target }: Attempt, deps: DeliverDeps): Promise<void> {
  await stopWaiting(message, target.state, (stored) => currentState(target.destination, stored), deps);
}

async function stopWaiting(
  message: DeliveryMessage,
  known: DestinationState,
  read: (stored: DestinationState | undefined) => DestinationState,
  deps: DeliverDeps,
): Promise<void> {
  const { sequence } = message;
  if (known.waiting.every((event) => event.sequence !== sequence)) return;
  const state = await deps.deliveries.changeState(known, (stored) => removeWaiting(read(stored), sequence));
  await wake(message, state, { outcome: 'rejected' }, deps);
}

/** Wakes the next event of the subject; after a success the first of every subject, since the destination accepts events again. */
async function wake(
  message: DeliveryMessage,
  state: DestinationState,
  { outcome }: Pick<DestinationResult, 'outcome'>,
  { queue }: DeliverDeps,
): Promise<void> {
  const { run, run_id, destination_id } = message;
  const isWoken = ({ subject }: WaitingEvent) => outcome === 'delivered' || subject === message.subject;
  for (const { attempts, ...event } of findHeads(state).filter(isWoken))
    await queue.send({ run, run_id, destination_id, ...event, attempt: attempts + 1, woken: true });
}

/** Returns the state after the last attempt of an event: it waits no more, and the destination has accepted an opening, or needs no end any more. */
function recordEnd(
  state: DestinationState,
  { message: { sequence, subject }, target: { event } }: Attempt,
  { outcome }: DestinationResult,
): DestinationState {
  const ended = removeWaiting(state, sequence);
  const position = { subject, sequence };
  if (isEnding(event)) return removeOpenings(ended, position, 'none');
  return isOpening(event) && outcome === 'delivered' ? acceptOpening(ended, position) : ended;
}

async function finish(delivery: Delivery, deps: DeliverDeps, target?: Target): Promise<DeliveryOutcome> {
  await deps.deliveries.put(delivery, deps.now());
  await target?.former?.erase();
  await deps.meter.count({ kind: 'delivery', delivered: delivery.state === 'delivered' });
  return done;
}

function report(delivery: Delivery, result: DestinationResult, deps: DeliverDeps): void {
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

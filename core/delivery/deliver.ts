import { TransientError } from '../errors.ts';
import type { DeliveryOutcome, AlertOpened, DestinationResult } from '../ports/delivery.ts';
import { runLog } from '../ports/observability.ts';
import { initialDelivery } from '../records/delivery.ts';
import type {
  ClipMessage,
  Delivery,
  DeliveryMessage,
  DestinationState,
  QueueMessage,
  WaitingEvent,
} from '../records/delivery.ts';
import { rules } from '../rules.ts';
import { ageSeconds } from '../time.ts';
import { afterAttempt, applyResend, countAttempts, giveUp, secondsUntilAttempt } from './after-attempt.ts';
import type { AttemptResult } from './after-attempt.ts';
import { listJoinable, markJoined } from './burst.ts';
import { findTarget, unrecorded, type DeliverDeps } from './delivery-target.ts';
import { addWaiting, beginAttempt, isHeldBack, keepWaiting, removeWaiting } from './destination-state.ts';
import { putOnBus, type PutOnBusDeps } from './put-on-bus.ts';
import {
  changeState,
  countEnd,
  done,
  findCurrentState,
  finish,
  recordEnd,
  report,
  storeResult,
  wake,
} from './record-delivery.ts';
import type { Arrival } from './record-delivery.ts';
import { forgetRest, type ForgetDeps } from '../watch/forget-moments.ts';

export type DeliverMessageDeps = DeliverDeps &
  PutOnBusDeps &
  ForgetDeps & {
    /** Absent on hosts that make no clips. */
    recordClip?: (message: ClipMessage) => Promise<DeliveryOutcome>;
  };

/**
 * Handles a message of the delivery queue: an event for one destination of its run, or for the event bus, an opening
 * that gets a clip, or moments that are left to remove.
 */
export async function deliverMessage(
  message: QueueMessage,
  deps: DeliverMessageDeps,
): Promise<DeliveryOutcome> {
  if ('clip' in message) return deps.recordClip?.(message) ?? done;
  if ('forget' in message) return forgetRest(message, deps);
  if (!('bus' in message)) return deliver(message, deps);
  await putOnBus(message, deps);
  return done;
}

/**
 * Makes one attempt to deliver an event to a destination, if its delivery is in the state for one. A crash between the
 * attempt and its record repeats the attempt with the same id. A resend starts a new series of attempts, also after a
 * failed delivery. After a failed first attempt or a defect, the delivery continues in a message group of its own. A
 * transient error keeps its place in the order.
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

type State = {
  holds: (arrival: Arrival) => boolean;
  handle: (arrival: Arrival, deps: DeliverDeps) => Promise<DeliveryOutcome> | DeliveryOutcome;
};

/**
 * States of a delivery when a message of it arrives. A message may arrive twice or early. The first state that holds
 * decides.
 */
const states: Record<string, State> = {
  ended: {
    holds: ({ message, delivery }) => delivery.state !== 'pending' || message.resend < delivery.resend,
    // A process that was killed between delivery and state left the wait.
    handle: async (arrival, deps) => {
      const { state } = arrival.delivery;
      if (state !== 'pending') await endWait(arrival, state === 'delivered' ? state : 'rejected', deps);
      return done;
    },
  },
  // A process that was killed left the retries in the first group.
  interrupted: {
    holds: ({ message, attempts }) => message.attempt === 0 && attempts > 0,
    handle: continueInterrupted,
  },
  refused: {
    holds: ({ message, target }) => message.resend === 0 && target.refusal !== undefined,
    handle: refuse,
  },
  attemptedSinceWoken: {
    holds: (arrival) => isLate(arrival) && isBesideWait(arrival.message),
    handle: () => done,
  },
  heldBack: {
    holds: ({ message, target }) =>
      message.resend === 0 && target.isOrdered && isHeldBack(target.state, message),
    handle: (arrival, deps) => holdBack(arrival, deps, heldBackSeconds(arrival, deps)),
  },
  // A retry is late already.
  inBurst: {
    holds: ({ message, target, attempts }) =>
      message.resend === 0 && attempts === 0 && target.burstSeconds > 0,
    handle: (arrival, deps) => holdBack(arrival, deps, arrival.target.burstSeconds),
  },
  early: {
    holds: ({ wait }) => wait > 0,
    handle: ({ wait }) => ({ kind: 'again', afterSeconds: wait }),
  },
  due: { holds: () => true, handle: attemptInTurn },
};

async function handleMessage(message: DeliveryMessage, deps: DeliverDeps): Promise<DeliveryOutcome> {
  const [target, stored] = await Promise.all([findTarget(message, deps), deps.deliveries.get(message)]);
  if (typeof target === 'string')
    return stored?.state === 'pending' ? abandon(message, stored, target, deps) : done;
  const delivery = applyResend(stored ?? initialDelivery(message, target.event.type), message.resend);
  const read = { message, target, delivery, attempts: countAttempts(delivery), wait: 0 };
  const wait = message.woken && !isLate(read) ? 0 : secondsUntilAttempt(delivery, deps.now());
  const arrival = { ...read, wait };
  const state = Object.values(states).find(({ holds }) => holds(arrival));
  return state ? state.handle(arrival, target.isRecorded ? deps : unrecorded(deps)) : done;
}

/** Returns true for a message of a wake whose event was attempted since. */
function isLate({ message, attempts }: Arrival): boolean {
  return message.woken === true && message.attempt !== attempts + 1;
}

/**
 * Returns true for a message that wakes an event whose planned attempt has a message. One that was held back has none:
 * the message that waits for the wake returns too late.
 */
function isBesideWait({ woken, attempt }: DeliveryMessage): boolean {
  return woken === true && attempt > 1;
}

async function continueInterrupted(
  { message, target, attempts }: Arrival,
  deps: DeliverDeps,
): Promise<DeliveryOutcome> {
  const waiting = waitFor(message, attempts);
  if (target.isOrdered) await changeState(target, (state) => keepWaiting(state, waiting), deps);
  return continueInOwnGroup(message, attempts, deps);
}

function waitFor({ sequence, subject, resend }: DeliveryMessage, attempts: number): WaitingEvent {
  return { sequence, subject, attempts, resend };
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

/**
 * Ends a delivery whose event or destination is gone. Later events must not wait for it if the destination is added
 * again.
 */
async function abandon(
  message: DeliveryMessage,
  delivery: Delivery,
  why: string,
  deps: DeliverDeps,
): Promise<DeliveryOutcome> {
  const state = message.run === 'watch' ? await deps.deliveries.state(message) : undefined;
  if (state)
    await stopWaiting(message, state, (stored = state) => removeWaiting(stored, message.sequence), deps);
  return finish(giveUp(delivery, why), deps);
}

/** Ends a delivery that the destination does not get. What it would have ended is over for it. */
async function refuse(arrival: Arrival, deps: DeliverDeps): Promise<DeliveryOutcome> {
  await endWait(arrival, 'rejected', deps);
  const { refusal, isMail } = arrival.target;
  return finish(giveUp(arrival.delivery, refusal ?? ''), deps, isMail);
}

async function endWait(
  arrival: Arrival,
  outcome: DestinationResult['outcome'],
  deps: DeliverDeps,
): Promise<void> {
  const { message, target } = arrival;
  const end = (stored: DestinationState | undefined) =>
    recordEnd(findCurrentState(target, stored), arrival, { outcome });
  await stopWaiting(message, target.state, end, deps);
}

async function stopWaiting(
  message: DeliveryMessage,
  state: DestinationState,
  change: (stored: DestinationState | undefined) => DestinationState,
  deps: DeliverDeps,
): Promise<void> {
  const { sequence, subject } = message;
  const isKnown = [...state.waiting, ...state.notified].some(
    (event) => event.sequence === sequence || event.subject === subject,
  );
  if (isKnown) await wake(message, await deps.deliveries.changeState(state, change), 'rejected', deps);
}

/** Returns the time until an event asks again whether the earlier event of its subject has ended, which wakes it. */
function heldBackSeconds({ target }: Arrival, { now }: DeliverDeps): number {
  return Math.max(rules.heldBackSeconds, ageSeconds(target.event.timestamp, now()) * rules.heldBackShare);
}

/** Lets an event wait in a message group of its own. */
async function holdBack(
  { message, target, delivery }: Arrival,
  deps: DeliverDeps,
  afterSeconds: number,
): Promise<DeliveryOutcome> {
  if (message.woken) return done;
  if (message.attempt > 0) return { kind: 'again', afterSeconds };
  await changeState(target, (state) => addWaiting(state, waitFor(message, 0)), deps);
  await deps.deliveries.put(delivery, deps.now());
  return continueInOwnGroup(message, 1, deps);
}

async function attemptInTurn(arrival: Arrival, deps: DeliverDeps): Promise<DeliveryOutcome> {
  const { message, target } = arrival;
  const afterSeconds = target.takeTurn();
  if (afterSeconds > 0) return { kind: 'again', afterSeconds };
  const joined = await begin(arrival, deps);
  if (joined) return makeAttempt(arrival, joined, deps);
  return isBesideWait(message) ? done : { kind: 'again', afterSeconds: rules.underWaySeconds };
}

/** Opening that a message is about too, with its wait. */
type Joined = { event: WaitingEvent; opening: AlertOpened };

/**
 * Begins an attempt, which takes waiting openings along. Returns undefined if another attempt of the event is under
 * way, or has ended since its delivery was read.
 */
async function begin(arrival: Arrival, deps: DeliverDeps): Promise<Joined[] | undefined> {
  const { message, target, attempts } = arrival;
  const isFirst = message.attempt === 0;
  const waiting = await listOpenings(arrival, deps);
  if (!target.isOrdered || (isFirst && waiting.length === 0)) return [];
  const now = deps.now();
  let joined: Joined[] | undefined;
  await changeState(
    target,
    (state) => {
      const begun = isFirst ? state : beginAttempt(state, target.state, message.sequence, now);
      const free = listJoinable(state, message.sequence, now).map(({ sequence }) => sequence);
      joined = begun && waiting.filter(({ event }) => free.includes(event.sequence));
      return begun ? markJoined(begun, joined ?? [], now) : state;
    },
    deps,
  );
  if (!joined || isFirst) return joined;
  const stored = await deps.deliveries.get(message);
  return stored === undefined || countAttempts(stored) === attempts ? joined : undefined;
}

/** Lists the openings that wait for an attempt, as far as a message can be about several. */
async function listOpenings({ message, target }: Arrival, { now }: DeliverDeps): Promise<Joined[]> {
  const { readOpening } = target;
  if (!readOpening || message.resend > 0) return [];
  const openings: Joined[] = [];
  for (const event of listJoinable(target.state, message.sequence, now())) {
    const opening = await readOpening(event.sequence);
    if (opening) openings.push({ event, opening });
  }
  return openings;
}

async function makeAttempt(
  arrival: Arrival,
  joined: readonly Joined[],
  deps: DeliverDeps,
): Promise<DeliveryOutcome> {
  const { message, target, delivery } = arrival;
  await reportLateness(arrival, deps);
  const startedAt = deps.now();
  const first = await target.send(joined.map(({ opening }) => opening));
  // The refusal may be about another opening, or how many they are.
  const isAlone = first.outcome === 'rejected' && !first.mayBeAccepted && joined.length > 0;
  const result = { ...(isAlone ? await target.send([]) : first), startedAt };
  const attemptedAt = deps.now();
  const attempted = withAttempt(arrival, delivery, result, attemptedAt, deps);
  const { next_attempt_at: next } = attempted;
  report(attempted, result, deps);
  // Before the end of the attempt in the state, so that who begins the next one reads it.
  await deps.deliveries.put(attempted, attemptedAt);
  const mayBeTold = result.outcome === 'delivered' || result.mayBeAccepted;
  const told = mayBeTold && !isAlone ? joined : [];
  for (const each of told) await countJoined(arrival, each.event, result, deps);
  const left = joined.filter((each) => !told.includes(each));
  const leave = (before: DestinationState) => markJoined(before, left, null);
  if (next === null) {
    const ended = (before: DestinationState) =>
      [message, ...told.map(({ event }) => event)].reduce(
        (state, each) => recordEnd(state, { message: { ...message, ...each }, target }, result),
        leave(before),
      );
    await wake(message, await storeResult(arrival, result, deps, ended), result.outcome, deps);
    return countEnd(attempted, deps, target.isMail);
  }
  const attempts = countAttempts(attempted);
  await storeResult(arrival, result, deps, (before) => addWaiting(leave(before), waitFor(message, attempts)));
  if (message.attempt === 0) return continueInOwnGroup(message, attempts, deps);
  if (isBesideWait(message)) return done;
  return { kind: 'again', afterSeconds: ageSeconds(attemptedAt, new Date(next)) };
}

/**
 * Returns the delivery after an attempt. That of an opening, which its clip follows, has its address and the id of the
 * message at the receiver.
 */
function withAttempt(
  { target: { part, destination } }: Arrival,
  delivery: Delivery,
  result: AttemptResult,
  now: Date,
  { random }: Pick<DeliverDeps, 'random'>,
): Delivery {
  const { receipt } = result;
  return {
    ...afterAttempt(delivery, result, now, random()),
    ...(receipt !== undefined && { receipt }),
    ...(part === 'opening' && { fingerprint: destination.fingerprint }),
  };
}

/** Records that an opening was told in the message of another one. */
async function countJoined(
  arrival: Arrival,
  { sequence }: WaitingEvent,
  result: AttemptResult,
  deps: DeliverDeps,
): Promise<void> {
  const { message, target } = arrival;
  const key = { ...message, sequence };
  const stored = (await deps.deliveries.get(key)) ?? initialDelivery(key, target.event.type);
  if (stored.state !== 'pending') return;
  const now = deps.now();
  const delivery = withAttempt(arrival, stored, result, now, deps);
  await deps.deliveries.put(delivery, now);
  await countEnd(delivery, deps, target.isMail);
}

/** Counts how much later than planned the attempt begins. A resend has no planned time for its first attempt. */
async function reportLateness({ message, target, delivery }: Arrival, deps: DeliverDeps): Promise<void> {
  const due = delivery.next_attempt_at ?? (delivery.resend === 0 ? target.event.timestamp : null);
  if (due !== null && !message.woken)
    await deps.meter.count({ kind: 'delivery_attempt', lateSeconds: ageSeconds(due, deps.now()) });
}

import type { DestinationResult } from '../ports/delivery.ts';
import type { DestinationKey, DestinationState, WaitingEvent } from '../records/delivery.ts';
import { rules } from '../rules.ts';
import { isOver } from '../time.ts';

/** Destination with its present address. */
export type AddressedDestination = DestinationKey & Pick<DestinationState, 'fingerprint'>;

/** Creates the state of an address before its first attempt. */
export function initialDestinationState(destination: AddressedDestination): DestinationState {
  const { run, run_id, destination_id, fingerprint } = destination;
  return {
    run,
    run_id,
    destination_id,
    fingerprint,
    last_attempt_at: null,
    last_delivered_at: null,
    tested_at: null,
    last_error: null,
    failures: 0,
    disabled: null,
    notified: [],
    waiting: [],
  };
}

/**
 * Returns the stored state if it belongs to the address of the destination, else that of a new address, which receives
 * what the one before did not accept.
 */
export function currentState(
  destination: AddressedDestination,
  stored: DestinationState | undefined,
): DestinationState {
  if (stored?.fingerprint === destination.fingerprint) return stored;
  const { notified = [], waiting = [], removed_at_sequence: removedAt } = stored ?? {};
  return {
    ...initialDestinationState(destination),
    notified: notified.filter(({ delivered }) => !delivered),
    waiting,
    ...(removedAt !== undefined && { removed_at_sequence: removedAt }),
  };
}

/** Returns the state of a destination that is removed. Added again, it receives what follows `sequence`. */
export function removedState(state: DestinationState, sequence: number): DestinationState {
  return { ...state, notified: [], waiting: [], removed_at_sequence: sequence };
}

type Position = Pick<WaitingEvent, 'subject' | 'sequence'>;

/**
 * Returns the state in which an opening is published for the destination. One that is published again may have been
 * accepted since.
 */
export function addOpening(state: DestinationState, { subject, sequence }: Position): DestinationState {
  if (state.notified.some((opening) => opening.sequence === sequence)) return state;
  return { ...state, notified: [...state.notified, { subject, sequence, delivered: false }] };
}

/** Returns the state in which the destination has accepted an opening, unless nobody waits for its end any more. */
export function acceptOpening(state: DestinationState, sequence: number, receipt?: string): DestinationState {
  const notified = state.notified.map((opening) =>
    opening.sequence === sequence
      ? { ...opening, delivered: true, ...(receipt !== undefined && { receipt }) }
      : opening,
  );
  return { ...state, notified };
}

/** Returns the state without an opening, whose end the destination does not need. */
export function removeOpening(state: DestinationState, sequence: number): DestinationState {
  return { ...state, notified: state.notified.filter((opening) => opening.sequence !== sequence) };
}

/** Returns the state without the openings that an event ended. */
export function removeOpenings(state: DestinationState, { subject, sequence }: Position): DestinationState {
  const notified = state.notified.filter(
    (opening) => opening.subject !== subject || opening.sequence > sequence,
  );
  return { ...state, notified };
}

/**
 * Returns the state after an attempt. `gone` disables the destination; a success enables it. `error` describes a
 * failure.
 */
export function recordAttempt(
  state: DestinationState,
  { outcome }: Pick<DestinationResult, 'outcome'>,
  now: Date,
  error: string,
): DestinationState {
  const attemptedAt = now.toISOString();
  switch (outcome) {
    case 'delivered':
      return {
        ...state,
        last_attempt_at: attemptedAt,
        last_delivered_at: attemptedAt,
        last_error: null,
        failures: 0,
        disabled: null,
      };
    case 'gone':
      return {
        ...state,
        last_attempt_at: attemptedAt,
        last_error: error,
        failures: state.failures + 1,
        disabled: { at: attemptedAt, reason: error },
      };
    case 'retry':
    case 'rejected':
      return { ...state, last_attempt_at: attemptedAt, last_error: error, failures: state.failures + 1 };
  }
}

/** Maximum waiting events in the state of a destination; a later one holds nothing back. */
const maxWaiting = 100;

/** Returns the state in which an event waits for its next attempt. */
export function addWaiting(state: DestinationState, event: WaitingEvent): DestinationState {
  const others = state.waiting.filter(({ sequence }) => sequence !== event.sequence);
  if (others.length >= maxWaiting) return state;
  return { ...state, waiting: [...others, event].toSorted((one, other) => one.sequence - other.sequence) };
}

/** Returns the state in which an event waits, as before if it did. */
export function keepWaiting(state: DestinationState, event: WaitingEvent): DestinationState {
  return findWaiting(state, event.sequence) ? state : addWaiting(state, event);
}

/** Returns the state in which an event waits no more. */
export function removeWaiting(state: DestinationState, sequence: number): DestinationState {
  return { ...state, waiting: state.waiting.filter((event) => event.sequence !== sequence) };
}

/**
 * Returns the state in which an attempt of an event is under way. Returns undefined if another attempt is, or if the
 * wait has ended since `before` was read: the message of the wait and that of a wake may be handled concurrently. An
 * event that does not wait has one message.
 */
export function beginAttempt(
  state: DestinationState,
  before: DestinationState,
  sequence: number,
  now: Date,
): DestinationState | undefined {
  const event = findWaiting(state, sequence);
  if (!event) return findWaiting(before, sequence) ? undefined : state;
  const { attempted_at: attemptedAt } = event;
  if (attemptedAt && !isOver(attemptedAt, rules.maxAttemptSeconds, now)) return undefined;
  return addWaiting(state, { ...event, attempted_at: now.toISOString() });
}

function findWaiting({ waiting }: DestinationState, sequence: number): WaitingEvent | undefined {
  return waiting.find((event) => event.sequence === sequence);
}

/** Returns true if an earlier event of the same subject waits for its next attempt. */
export function isHeldBack(
  { waiting }: Pick<DestinationState, 'waiting'>,
  { sequence, subject }: Pick<WaitingEvent, 'sequence' | 'subject'>,
): boolean {
  return waiting.some((event) => event.subject === subject && event.sequence < sequence);
}

/** Returns the first waiting event of each subject. */
export function findHeads({ waiting }: Pick<DestinationState, 'waiting'>): WaitingEvent[] {
  return waiting.filter((event) => !isHeldBack({ waiting }, event));
}

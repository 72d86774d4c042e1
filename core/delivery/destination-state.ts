import type { DestinationResult } from '../ports/destinations.ts';
import type { Destination } from '../records/watch.ts';
import type { DestinationState } from '../records/watch-delivery.ts';

/** Creates the state of an address before its first attempt. */
export function initialDestinationState(
  watchId: string,
  { destination_id, fingerprint }: Pick<Destination, 'destination_id' | 'fingerprint'>,
): DestinationState {
  return {
    watch_id: watchId,
    destination_id,
    fingerprint,
    last_attempt_at: null,
    last_delivered_at: null,
    tested_at: null,
    last_error: null,
    failures: 0,
    disabled: null,
  };
}

/** Returns the stored state if it belongs to the address of the destination, else that of a new address. */
export function currentState(
  watchId: string,
  destination: Pick<Destination, 'destination_id' | 'fingerprint'>,
  stored: DestinationState | undefined,
): DestinationState {
  return stored?.fingerprint === destination.fingerprint
    ? stored
    : initialDestinationState(watchId, destination);
}

/** Returns the state after an attempt. `gone` disables the destination; a success enables it. `error` describes a failure. */
export function recordAttempt(
  state: DestinationState,
  { outcome }: Pick<DestinationResult, 'outcome'>,
  now: Date,
  error: string,
): DestinationState {
  const at = now.toISOString();
  switch (outcome) {
    case 'skipped':
      return state;
    case 'delivered':
      return {
        ...state,
        last_attempt_at: at,
        last_delivered_at: at,
        last_error: null,
        failures: 0,
        disabled: null,
      };
    case 'gone':
      return {
        ...state,
        last_attempt_at: at,
        last_error: error,
        failures: state.failures + 1,
        disabled: { at, reason: error },
      };
    case 'retry':
    case 'rejected':
      return { ...state, last_attempt_at: at, last_error: error, failures: state.failures + 1 };
  }
}

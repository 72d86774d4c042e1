import { currentState, removedState } from '../delivery/destination-state.ts';
import { isStillAddressed } from '../delivery/receivers.ts';
import { isOpen } from '../policies/watch/condition.ts';
import type { Destinations } from '../ports/destinations.ts';
import type { DeliveryStore } from '../ports/delivery.ts';
import type { DestinationState } from '../records/delivery.ts';
import type { Destination, DestinationAddress } from '../records/watch.ts';
import type { WatchRun } from '../records/watch-run.ts';
import { findLoss } from '../sight/trouble.ts';
import { waitAtMost } from '../time-limit.ts';

/** Openings that a destination accepted and that still stand. */
export type Notified = {
  destination_id: string;
  url_masked: string;
  open_alerts: string[];
  stream_lost: boolean;
};

/** Destination that a change removed or gave another address. `error`: why what it keeps was not ended there; null if it was, or if it keeps nothing. */
export type FormerDestination = Notified & { error: string | null };

type Deps = { deliveries: DeliveryStore; destinations: Pick<Destinations, 'end'> };

/** Time for the ends at all destinations: a change has to answer. */
const maxEndMs = 8_000;

/**
 * Ends what stands open at destinations that a change removed or gave another address, after its commit, and returns them. Each has one attempt: its address
 * is erased. `addresses` are those before.
 */
export async function endFormer(
  before: WatchRun,
  after: WatchRun,
  addresses: readonly DestinationAddress[],
  { deliveries, destinations }: Deps,
): Promise<FormerDestination[]> {
  const run = { run: 'watch', run_id: before.run_id } as const;
  const former = before.config.destinations.filter(
    (each) => !after.config.destinations.some((other) => isSame(each, other)),
  );
  if (former.length === 0) return [];
  const states = await deliveries.states(run);
  return Promise.all(
    former.map(async (destination) => {
      const { destination_id: id, fingerprint } = destination;
      const stored = states.find((state) => state.destination_id === id);
      const state = stored?.fingerprint === fingerprint ? stored : undefined;
      const moved = after.config.destinations.find(
        (other) => other.destination_id === id && other.type === destination.type,
      );
      const key = { ...run, destination_id: id };
      if (stored)
        await deliveries.changeState(key, (now = stored) =>
          moved ? currentState({ ...key, ...moved }, now) : removedState(now, after.sequence),
        );
      const address = addresses.find((each) => each.destination_id === id);
      const isAddressed = isStillAddressed(destination, after.config.destinations);
      const error = state && address && !isAddressed ? await end(address, state) : null;
      return { ...describeNotified(destination, state, before), error };
    }),
  );

  async function end(address: DestinationAddress, state: DestinationState): Promise<string | null> {
    if (state.disabled) return state.disabled.reason;
    const subjects = state.notified.map(({ subject }) => subject);
    const { run_id: watchId, config } = before;
    return waitAtMost(
      maxEndMs,
      destinations.end(address, { watchId, conditions: config.conditions, subjects }),
      () => 'no answer in time',
    );
  }
}

/** Returns the openings that a destination accepted and that still stand in the watch. */
export function describeNotified(
  { destination_id, url_masked }: Destination,
  state: DestinationState | undefined,
  { sight, state: { conditions } }: WatchRun,
): Notified {
  const accepted = new Set(
    state?.notified.filter(({ delivered }) => delivered).map(({ subject }) => subject) ?? [],
  );
  return {
    destination_id,
    url_masked,
    open_alerts: conditions
      .filter(isOpen)
      .map(({ alert }) => alert.alert_id)
      .filter((id) => accepted.has(id)),
    stream_lost: findLoss(sight) !== null && accepted.has('stream'),
  };
}

function isSame(one: Destination, other: Destination): boolean {
  return (
    one.destination_id === other.destination_id &&
    one.type === other.type &&
    one.fingerprint === other.fingerprint
  );
}

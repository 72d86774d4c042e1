import { currentState, initialDestinationState, removedState } from '../delivery/destination-state.ts';
import { isStillAddressed } from '../delivery/receivers.ts';
import { isOpen } from '../policies/watch/condition.ts';
import type { Destinations, DeliveryStore } from '../ports/delivery.ts';
import { runLog, type Log } from '../ports/observability.ts';
import { findState, type DestinationState } from '../records/delivery.ts';
import type { Destination, DestinationAddress, Watch, WatchConfig } from '../records/watch.ts';
import type { WatchRun } from '../records/run.ts';
import { findLoss } from '../sight/trouble.ts';
import { waitAtMost } from '../time-limit.ts';

/** Openings that a destination accepted and that still stand. */
export type Notified = {
  destination_id: string;
  url_masked: string;
  open_alerts: string[];
  stream_lost: boolean;
};

/**
 * Destination that a change removed or gave another address. `error`: why what it keeps was not ended there; null if it
 * was, or if it keeps nothing.
 */
export type FormerDestination = Notified & { error: string | null };

/** Destination that a change removes or gives another address: its address and its state before. */
export type Former = {
  destination: Destination;
  address: DestinationAddress | undefined;
  state: DestinationState | undefined;
};

type Deps = { deliveries: DeliveryStore; destinations: Pick<Destinations, 'end'>; log: Log };

/** Time for the ends at all destinations: a change has to answer. */
const maxEndMs = 8_000;

/** Reads what a change with this configuration ends, before its commit: a failure then changes nothing. */
export async function readFormer(
  { run_id, config }: Watch,
  { destinations: remaining }: Pick<WatchConfig, 'destinations'>,
  addresses: readonly DestinationAddress[],
  { deliveries }: Pick<Deps, 'deliveries'>,
): Promise<Former[]> {
  const former = config.destinations.filter((each) => !remaining.some((other) => isSame(each, other)));
  const states = former.length === 0 ? [] : await deliveries.states({ run: 'watch', run_id });
  return former.map((destination) => ({
    destination,
    address: addresses.find(({ destination_id: id }) => id === destination.destination_id),
    state: findState(destination, states),
  }));
}

/**
 * Ends what stands open at former destinations, after the commit of the change, and returns them. Each has one attempt:
 * its address is erased.
 */
export function endFormer(
  former: readonly Former[],
  before: WatchRun,
  after: WatchRun,
  deps: Deps,
): Promise<FormerDestination[]> {
  return Promise.all(
    former.map(async (each) => {
      const { destination } = each;
      const report = (error: unknown): void =>
        runLog(deps.log, { run: 'watch', run_id: before.run_id }).warning('Former destination not ended', {
          destination_id: destination.destination_id,
          error: String(error),
        });
      let { state } = each;
      let error: string | null;
      try {
        state = (await takeLeave(each, after, deps)) ?? state;
        const isAddressed = isStillAddressed(destination, after.config.destinations);
        error = isAddressed ? null : await end({ ...each, state }, before, deps);
        if (error !== null) report(error);
      } catch (thrown) {
        report(thrown);
        error = 'the service failed, its log has the reason';
      }
      return { ...describeNotified(destination, state, before), error };
    }),
  );
}

/** Stores the state after the change, and returns that of the address before; undefined if an event has replaced it. */
async function takeLeave(
  { destination }: Former,
  { run_id, config, sequence }: WatchRun,
  { deliveries }: Deps,
): Promise<DestinationState | undefined> {
  const { destination_id: id, type } = destination;
  const key = { run: 'watch', run_id, destination_id: id } as const;
  const moved = config.destinations.find((other) => other.destination_id === id && other.type === type);
  let left: DestinationState | undefined;
  await deliveries.changeState(key, (stored = initialDestinationState({ ...destination, ...key })) => {
    left = findState(destination, [stored]);
    return moved ? currentState({ ...moved, ...key }, stored) : removedState(stored, sequence);
  });
  return left;
}

async function end(
  { address, state }: Former,
  { run_id: watchId, config: { conditions } }: WatchRun,
  { destinations }: Deps,
): Promise<string | null> {
  if (!state || !address) return null;
  if (state.disabled) return state.disabled.reason;
  const subjects = state.notified.map(({ subject }) => subject);
  return waitAtMost(
    maxEndMs,
    destinations.end(address, { watchId, conditions, subjects }),
    () => 'no answer in time',
  );
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

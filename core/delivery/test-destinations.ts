import type { CoreDeps } from '../dependencies.ts';
import type { DestinationResult, Destinations } from '../ports/delivery.ts';
import type { RunStore } from '../ports/runs.ts';
import type { WatchRun } from '../records/run.ts';
import type { Destination, DestinationAddress, Watch } from '../records/watch.ts';
import { rules } from '../rules.ts';
import { ageSeconds } from '../time.ts';
import { describeDeliveryFailure } from './after-attempt.ts';
import { recordAttempt, currentState, type AddressedDestination } from './destination-state.ts';
import { testNotification } from './notification.ts';

type Deps = Pick<CoreDeps, 'now' | 'newId' | 'queue' | 'deliveries'> & {
  runs: Pick<RunStore, 'secrets'>;
  destinations: Pick<Destinations, 'send'>;
};

/**
 * Sends a test alert to all destinations of a watch, concurrently and once, and returns each result. `error` is null if
 * the destination accepted it. Within `rules.minTestSeconds` of the last test, a destination receives none: the
 * endpoint would send any number of messages to addresses of others. A success enables a destination that was disabled.
 * The event bus of the deployment receives the test alert too, by the delivery queue.
 */
export async function sendTestAlert(watch: WatchRun, deps: Deps) {
  if (deps.queue.hasBus) await sendTestToBus(watch, deps);
  const secrets = await deps.runs.secrets(watch.run_id);
  const addresses = secrets?.destinations ?? [];
  return Promise.all(addresses.map(async (address) => sendTest(address, watch, deps)));
}

async function sendTestToBus({ run_id: id }: Watch, { queue, newId, now }: Deps): Promise<void> {
  const test = { id: newId(), timestamp: now().toISOString() };
  await queue.send({ bus: 'test', id, sequence: 0, subject: 'test', test });
}

async function sendTest(address: DestinationAddress, stored: WatchRun, deps: Deps) {
  const { destination_id: id, type } = address;
  const destination = stored.config.destinations.find((each) => each.destination_id === id);
  const result = destination ? await attemptTest(address, destination, stored, deps) : unknownAddress;
  const error = result.outcome === 'delivered' ? null : describeDeliveryFailure(result);
  return { destination_id: id, type, status: result.status, latency_ms: result.latencyMs, error };
}

async function attemptTest(
  address: DestinationAddress,
  destination: Destination,
  watch: WatchRun,
  deps: Deps,
): Promise<DestinationResult> {
  const { waitSeconds, reserved } = await reserveTest(destination, watch, deps);
  if (waitSeconds > 0)
    return unsent(
      `A destination is tested at most every ${rules.minTestSeconds} s: try again in ${Math.ceil(waitSeconds)} s`,
    );
  const result = await deps.destinations.send(
    address,
    testNotification(watch, destination, deps.newId(), deps.now()),
  );
  if (result.outcome === 'delivered')
    await deps.deliveries.changeState(toKey(destination, watch), (stored = reserved) =>
      // A change may have given the destination another address meanwhile.
      stored.fingerprint === reserved.fingerprint ? recordAttempt(stored, result, deps.now(), '') : stored,
    );
  return result;
}

/**
 * Stores the time of the test before it, so that concurrent calls send one. Returns the wait until the next test is
 * allowed, 0 if this one is, and the state.
 */
async function reserveTest(destination: Destination, watch: Watch, deps: Deps) {
  const now = deps.now();
  const key = toKey(destination, watch);
  let waitSeconds = 0;
  const reserved = await deps.deliveries.changeState(key, (stored) => {
    const state = currentState(key, stored);
    const { tested_at: last } = state;
    waitSeconds = last === null ? 0 : Math.max(0, rules.minTestSeconds - ageSeconds(last, now));
    return waitSeconds > 0 ? state : { ...state, tested_at: now.toISOString() };
  });
  return { waitSeconds, reserved };
}

function toKey({ destination_id, fingerprint }: Destination, { run_id }: Watch): AddressedDestination {
  return { run: 'watch', run_id, destination_id, fingerprint };
}

function unsent(error: string): DestinationResult {
  return { status: null, latencyMs: 0, error, retryAfter: null, outcome: 'rejected' };
}

const unknownAddress = unsent('The destination was removed');

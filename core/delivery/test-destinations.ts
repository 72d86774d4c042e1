import type { CoreDeps } from '../dependencies.ts';
import type { Destinations } from '../ports/destinations.ts';
import type { WatchDeliveryStore } from '../ports/watch-deliveries.ts';
import type { WatchStore } from '../ports/watch-store.ts';
import type { DestinationAddress, Watch } from '../records/watch.ts';
import { describeDeliveryFailure } from './after-attempt.ts';
import { initialDestinationState, recordAttempt } from './destination-state.ts';
import { testNotification } from './notification.ts';

type Deps = Pick<CoreDeps, 'now' | 'newId' | 'queue'> & {
  watches: Pick<WatchStore, 'secrets'>;
  watchDeliveries: WatchDeliveryStore;
  destinations: Destinations;
};

/**
 * Sends a test alert to all destinations of a watch, concurrently and once, and returns each result. `error` is null if the destination accepted it. A
 * success enables a destination that was disabled. The event bus of the deployment receives the test alert too, by the delivery queue.
 */
export async function sendTestAlert(watch: Watch, deps: Deps) {
  if (deps.queue.hasBus) await sendTestToBus(watch, deps);
  const secrets = await deps.watches.secrets(watch.watch_id);
  const addresses = secrets?.destinations ?? [];
  return Promise.all(addresses.map(async (address) => sendTest(address, watch, deps)));
}

async function sendTestToBus({ watch_id: id }: Watch, { queue, newId, now }: Deps): Promise<void> {
  const test = { id: newId(), timestamp: now().toISOString() };
  await queue.send({ bus: 'test', id, sequence: 0, alert_id: null, test });
}

async function sendTest(address: DestinationAddress, watch: Watch, deps: Deps) {
  const result = await deps.destinations.send(address, testNotification(watch, deps.newId(), deps.now()));
  const { destination_id: id, type } = address;
  const isAccepted = result.outcome === 'delivered' || result.outcome === 'skipped';
  const error = isAccepted ? null : describeDeliveryFailure(result);
  const destination = watch.config.destinations.find((each) => each.destination_id === id);
  if (destination && result.outcome === 'delivered') {
    const stored = await deps.watchDeliveries.state(watch.watch_id, id);
    const state =
      stored?.fingerprint === destination.fingerprint
        ? stored
        : initialDestinationState(watch.watch_id, destination);
    await deps.watchDeliveries.putState(recordAttempt(state, result, deps.now(), ''));
  }
  return { destination_id: id, type, status: result.status, latency_ms: result.latencyMs, error };
}

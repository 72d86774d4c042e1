import type { CoreDeps } from '../dependencies.ts';
import { describeDeliveryFailure } from './after-attempt.ts';
import type { Destinations, DestinationResult } from '../ports/delivery.ts';
import type { RunStore } from '../ports/runs.ts';
import type { WatchRun } from '../records/run.ts';
import type { Destination, DestinationAddress, Watch } from '../records/watch.ts';
import { rules } from '../rules.ts';
import { ageSeconds } from '../time.ts';
import { recordAttempt, currentState, type AddressedDestination } from './destination-state.ts';
import { testNotification } from './notification.ts';

type WebhookDeps = Pick<CoreDeps, 'webhookUrls' | 'baseUrl' | 'now' | 'newId'> & {
  destinations: Pick<Destinations, 'sendEnvelope'>;
};

/**
 * Sends one signed event of the type `test`, like those of a job but without retries, and returns the response.
 * `status` is null if there was no response, `error` is null if it was 2xx. Throws `InvalidUrlError` for a URL that no
 * job accepts.
 */
export async function testWebhook(url: string, caller: string, deps: WebhookDeps) {
  deps.webhookUrls.check(url, ['http', 'https']);
  const result = await deps.destinations.sendEnvelope(url, {
    caller,
    id: `msg_test_${deps.newId()}`,
    body: testEnvelope(deps.now(), deps),
  });
  return {
    status: result.status,
    latency_ms: result.latencyMs,
    error: result.outcome === 'delivered' ? null : describeDeliveryFailure(result),
  };
}

/** Creates an envelope without a stream: the service itself is its source. */
function testEnvelope(now: Date, { baseUrl }: WebhookDeps) {
  return {
    type: 'test',
    timestamp: now.toISOString(),
    source_url: baseUrl,
    data: { message: 'This is a test event: nothing has happened.' },
  };
}

type AlertDeps = Pick<CoreDeps, 'now' | 'newId' | 'queue' | 'deliveries'> & {
  runs: Pick<RunStore, 'secrets'>;
  destinations: Pick<Destinations, 'send'>;
};

/**
 * Sends a test alert to all destinations of a watch, concurrently and once, and returns each result. `error` is null if
 * the destination accepted it. Within `rules.minTestSeconds` of the last test, a destination receives none: the
 * endpoint would send any number of messages to addresses of others. A success enables a destination that was disabled.
 * The event bus of the deployment receives the test alert too, by the delivery queue.
 */
export async function sendTestAlert(watch: WatchRun, deps: AlertDeps) {
  if (deps.queue.hasBus) await sendTestToBus(watch, deps);
  const secrets = await deps.runs.secrets(watch.run_id);
  const addresses = secrets?.destinations ?? [];
  return Promise.all(addresses.map(async (address) => sendTest(address, watch, deps)));
}

async function sendTestToBus({ run_id: id }: Watch, { queue, newId, now }: AlertDeps): Promise<void> {
  const test = { id: newId(), timestamp: now().toISOString() };
  await queue.send({ bus: 'test', id, sequence: 0, subject: 'test', test });
}

async function sendTest(address: DestinationAddress, stored: WatchRun, deps: AlertDeps) {
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
  deps: AlertDeps,
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
async function reserveTest(destination: Destination, watch: Watch, deps: AlertDeps) {
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

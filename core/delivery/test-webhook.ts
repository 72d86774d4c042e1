import type { CoreDeps } from '../dependencies.ts';
import { describeDeliveryFailure } from './after-attempt.ts';
import type { Destinations } from '../ports/delivery.ts';

type Deps = Pick<CoreDeps, 'webhookUrls' | 'baseUrl' | 'now' | 'newId'> & {
  destinations: Pick<Destinations, 'sendEnvelope'>;
};

/**
 * Sends one signed event of the type `test`, like those of a job but without retries, and returns the response.
 * `status` is null if there was no response, `error` is null if it was 2xx. Throws `InvalidUrlError` for a URL that no
 * job accepts.
 */
export async function testWebhook(url: string, caller: string, deps: Deps) {
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
function testEnvelope(at: Date, { baseUrl }: Deps) {
  return {
    type: 'test',
    timestamp: at.toISOString(),
    source_url: baseUrl,
    data: { message: 'This is a test event: nothing has happened.' },
  };
}

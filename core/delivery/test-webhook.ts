import type { CoreDeps } from '../dependencies.ts';
import { describeDeliveryFailure } from './after-attempt.ts';
import { outcomeFor, webhookStatuses } from './after-attempt.ts';

type Deps = Pick<CoreDeps, 'webhookUrls' | 'webhooks' | 'signer' | 'baseUrl' | 'now' | 'newId'>;

/**
 * Sends one signed event of the type `test`, like those of a job but without retries, and returns the response. `status` is null if there was no
 * response, `error` is null if it was 2xx. Throws `InvalidUrlError` for a URL that no job accepts.
 */
export async function testWebhook(url: string, caller: string, deps: Deps) {
  deps.webhookUrls.check(url, ['http', 'https']);
  const at = deps.now();
  const body = JSON.stringify(testEnvelope(at, deps));
  const headers = await deps.signer.sign(caller, `msg_test_${deps.newId()}`, at, body);
  const result = await deps.webhooks.send({
    url,
    headers: { ...headers, 'content-type': 'application/json' },
    body,
  });
  const isDelivered = outcomeFor(result.status, webhookStatuses) === 'delivered';
  return {
    status: result.status,
    latency_ms: result.latencyMs,
    error: isDelivered ? null : describeDeliveryFailure(result),
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

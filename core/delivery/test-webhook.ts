import type { CoreDeps } from '../dependencies.ts';
import { describeDeliveryFailure } from './after-attempt.ts';

type Deps = Pick<CoreDeps, 'webhookUrls' | 'webhooks' | 'signer' | 'baseUrl' | 'now' | 'newId'>;

/**
 * Sends one signed event of the type `test`, as a job's are sent but without a retry, and says what came of it. `status` is
 * null where no answer came, `error` where it was 2xx. Throws `InvalidUrlError` for a URL that no job would accept.
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
  const delivered = result.status !== null && result.status >= 200 && result.status < 300;
  return {
    status: result.status,
    latency_ms: result.latencyMs,
    error: delivered ? null : describeDeliveryFailure(result),
  };
}

/** There is no stream behind it: the service itself is its source. */
function testEnvelope(at: Date, { baseUrl }: Deps) {
  return {
    type: 'test',
    timestamp: at.toISOString(),
    source_url: baseUrl,
    data: { message: 'This is a test event: nothing has happened.' },
  };
}

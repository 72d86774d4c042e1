import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { GetSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { LambdaClient } from '@aws-sdk/client-lambda';
import { expect, onTestFinished, test, vi } from 'vitest';
import { clientSettings } from '../../../adapters/aws/client-settings.ts';
import { createDeliveryQueue } from '../../../adapters/aws/delivery-queue.ts';
import { createInvoke, invocationSettings } from '../../../adapters/aws/invoke/create-invoke.ts';

/** Starts a server whose responses the test ends, and stops the clock of the time limits. */
async function startSilentServer() {
  const responses: ServerResponse[] = [];
  const server = createServer((_, response) => void responses.push(response)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  // Time passes too: the SDK sets the timer of a retry when it is ready.
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'], shouldAdvanceTime: true });
  onTestFinished(() => {
    vi.useRealTimers();
    server.close();
    server.closeAllConnections();
  });
  const address = server.address();
  return {
    responses,
    request: () => once(server, 'request'),
    settings: {
      endpoint: `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}`,
      region: 'eu-central-1',
      credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
    },
  };
}

test('a request without a response is sent again after ten seconds', async () => {
  const { responses, request, settings } = await startSilentServer();
  const client = new SecretsManagerClient({ ...settings, ...clientSettings });

  const [first, answer] = [request(), client.send(new GetSecretValueCommand({ SecretId: 'arn' }))];
  await first;
  const second = request();
  await vi.advanceTimersByTimeAsync(5_000);
  expect(responses).toHaveLength(1);
  await vi.advanceTimersByTimeAsync(5_000);
  await second;
  responses[1]?.end('{"SecretString":"s"}');

  expect(await answer).toMatchObject({ SecretString: 's' });
});

test('an invocation takes as long as its function', async () => {
  const { responses, request, settings } = await startSilentServer();
  const invoke = createInvoke('capture', new LambdaClient({ ...settings, ...invocationSettings }));

  const [asked, answer] = [request(), invoke({}, new AbortController().signal)];
  await asked;
  await vi.advanceTimersByTimeAsync(50_000);
  responses[0]?.end('{"kind":"done"}');

  expect(await answer).toEqual({ kind: 'done' });
  expect(responses).toHaveLength(1);
});

test('a message goes to the endpoint of the environment, not to the host of the queue URL', async () => {
  const { responses, request, settings } = await startSilentServer();
  vi.stubEnv('AWS_ENDPOINT_URL', settings.endpoint);
  vi.stubEnv('AWS_REGION', settings.region);
  vi.stubEnv('AWS_ACCESS_KEY_ID', 'local');
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'local');
  onTestFinished(() => void vi.unstubAllEnvs());
  const queueUrl = 'https://sqs.eu-central-1.amazonaws.com/123456789012/deliveries.fifo';

  const [asked, postponed] = [request(), createDeliveryQueue({ queueUrl }).postpone('receipt', 5)];
  await asked;
  responses[0]?.end('{}');
  await postponed;
});

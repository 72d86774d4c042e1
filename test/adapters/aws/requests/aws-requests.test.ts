import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { NodeHttpHandler } from '@smithy/node-http-handler';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import type { AwsRequest, AwsRequestsDeps } from '../../../../adapters/aws/requests/aws-requests.ts';
import { jsonCalls } from '../../../../adapters/aws/requests/json-calls.ts';
import { findOwnEndpoint, regionalEndpoint } from '../../../../adapters/aws/requests/services.ts';
import { localRequests } from './local-requests.ts';

/** Status and body of a response, or a broken connection. */
type Reply =
  { status?: number; headers?: Record<string, string>; body?: string } | 'broken line' | 'no response';
type Asked = { method: string; url: string; headers: IncomingMessage['headers']; body: string };

/** Server with scripted responses, the last one repeated. */
async function scriptedServer(...replies: Reply[]) {
  const asked: Asked[] = [];
  const server = createServer((request, response) => void answer(request, response)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('No port');
  return { asked, endpoint: `http://127.0.0.1:${address.port}` };

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = Buffer.concat(await request.toArray()).toString();
    asked.push({ method: request.method ?? '', url: request.url ?? '', headers: request.headers, body });
    const reply = replies.length > 1 ? replies.shift() : replies[0];
    if (reply === 'no response') return;
    if (reply === undefined || reply === 'broken line') return void request.socket.destroy();
    response.writeHead(reply.status ?? 200, reply.headers).end(reply.body ?? '{}');
  }
}

const get: AwsRequest = { service: 'dynamodb', method: 'POST', path: '/', body: '{}' };
const failure = (code: string, status = 400): Reply => ({
  status,
  body: JSON.stringify({ __type: `com.amazonaws.x#${code}`, message: 'Why' }),
});

describe('signed requests', () => {
  test('a request has the signature of AWS for its time, region, service and body', async () => {
    const { asked, endpoint } = await scriptedServer({});
    const credentials = async () => ({
      accessKeyId: 'AKIDEXAMPLE',
      secretAccessKey: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY',
      sessionToken: 'session',
    });
    const nowMs = () => Date.parse('2015-08-30T12:36:00Z');

    await localRequests({ endpoint, credentials, nowMs, region: async () => 'us-east-1' })(get);

    expect(asked[0]?.headers).toMatchObject({
      'x-amz-date': '20150830T123600Z',
      'x-amz-security-token': 'session',
      authorization: expect.stringMatching(
        /^AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE\/20150830\/us-east-1\/dynamodb\/aws4_request, SignedHeaders=host;x-amz-date;x-amz-security-token, Signature=[0-9a-f]{64}$/,
      ),
    });
  });

  test('a request in a function continues the trace of its invocation', async () => {
    const { asked, endpoint } = await scriptedServer({});
    vi.stubEnv('AWS_LAMBDA_FUNCTION_NAME', 'api');
    vi.stubEnv('_X_AMZN_TRACE_ID', 'Root=1-5759e988-bd862e3fe1be46a994272793;Sampled=1');
    onTestFinished(() => void vi.unstubAllEnvs());

    await localRequests({ endpoint })(get);

    expect(asked[0]?.headers['x-amzn-trace-id']).toBe('Root=1-5759e988-bd862e3fe1be46a994272793;Sampled=1');
  });

  test('requests keep their connection', async () => {
    const { endpoint } = await scriptedServer({});
    const ports = new Set<unknown>();
    const handler = new NodeHttpHandler();
    const handle: NodeHttpHandler['handle'] = async (request, options) => {
      const answer = await handler.handle(request, options);
      ports.add(answer.response.body.socket.localPort);
      return answer;
    };
    const requests = localRequests({ endpoint, handler: { handle } });

    for (let count = 0; count < 3; count += 1) await requests(get);

    expect(ports.size).toBe(1);
  });

  test('an object of S3 is addressed by its bucket as host, and at own endpoints as folder', async () => {
    const hosts: string[] = [];
    const handle: NodeHttpHandler['handle'] = async ({ hostname, path }) => {
      hosts.push(`${hostname}${path}`);
      throw new Error('Not sent');
    };
    const read: AwsRequest = { service: 's3', method: 'GET', bucket: 'pictures', path: '/captures/a.jpg' };
    const ask = async (deps: Partial<AwsRequestsDeps>) =>
      localRequests({ handler: { handle }, ...deps })(read).catch(() => undefined);

    await ask({});
    await ask({ endpoint: 'http://127.0.0.1:4566' });

    expect(hosts).toEqual([
      'pictures.s3.eu-central-1.amazonaws.com/captures/a.jpg',
      '127.0.0.1/pictures/captures/a.jpg',
    ]);
  });
});

describe('retries', () => {
  test.each<[string, Reply]>([
    ['throttled', failure('ThrottlingException')],
    ['over the throughput of the table', failure('ProvisionedThroughputExceededException')],
    ['failing internally', failure('InternalServerError', 500)],
    ['refused without a body', { status: 503, body: '' }],
    ['sent on a broken connection', 'broken line'],
  ])('a request that is %s is sent again', async (_, reply) => {
    const { asked, endpoint } = await scriptedServer(reply, { body: '{"Item":{}}' });

    const { body } = await localRequests({ endpoint })(get);

    expect(Buffer.from(body).toString()).toBe('{"Item":{}}');
    expect(asked).toHaveLength(2);
  });

  test('a request is sent at most four times to DynamoDB, and three times to other services', async () => {
    const { asked, endpoint } = await scriptedServer(failure('ThrottlingException'));
    const requests = localRequests({ endpoint });

    await expect(requests(get)).rejects.toMatchObject({
      name: 'ThrottlingException',
      $metadata: { httpStatusCode: 400 },
    });
    expect(asked).toHaveLength(4);

    await expect(requests({ ...get, service: 'sqs' })).rejects.toThrow('Why');
    expect(asked).toHaveLength(7);
  });

  test.each(['ValidationException', 'ConditionalCheckFailedException', 'AccessDeniedException'])(
    'a request that is refused with %s is not repeated',
    async (code) => {
      const { asked, endpoint } = await scriptedServer(failure(code));

      await expect(localRequests({ endpoint })(get)).rejects.toMatchObject({ name: code, message: 'Why' });
      expect(asked).toHaveLength(1);
    },
  );

  test('a request without a response within its time is sent again', async () => {
    const { asked, endpoint } = await scriptedServer({});
    const handler = new NodeHttpHandler();
    const timeouts: unknown[] = [];
    const handle: NodeHttpHandler['handle'] = async (request, options) => {
      timeouts.push(options?.requestTimeout);
      // As the handler of the SDK throws it after this time.
      if (timeouts.length === 1) throw Object.assign(new Error('No response'), { name: 'TimeoutError' });
      return handler.handle(request);
    };

    await localRequests({ endpoint, handler: { handle } })({ ...get, timeoutMs: 40 });

    expect([timeouts, asked.length]).toEqual([[40, 40], 1]);
  });

  test('a request that its caller gives up is not repeated', async () => {
    const { asked, endpoint } = await scriptedServer('no response');

    const caller = new AbortController();
    const answer = localRequests({ endpoint })({ ...get, signal: caller.signal, timeoutMs: 0 });
    answer.catch(() => undefined);
    await vi.waitFor(() => expect(asked).toHaveLength(1), { timeout: 10_000 });
    caller.abort();

    await expect(answer).rejects.toMatchObject({ name: 'AbortError' });
    expect(asked).toHaveLength(1);
  });

  test('a request that is refused because of a wrong clock is signed again with the time of AWS', async () => {
    const headers = { date: 'Sat, 21 Nov 2026 10:00:00 GMT' };
    const expired = failure('InvalidSignatureException') as object;
    const { asked, endpoint } = await scriptedServer({ ...expired, headers }, {});
    const requests = localRequests({ endpoint, nowMs: () => Date.parse('2026-11-21T09:00:00Z') });

    await requests(get);
    await requests(get);

    expect(asked.map(({ headers: sent }) => sent['x-amz-date'])).toEqual([
      '20261121T090000Z',
      '20261121T100000Z',
      '20261121T100000Z',
    ]);
  });

  test('a wrong key is no wrong clock', async () => {
    const headers = { date: 'Sat, 21 Nov 2026 10:00:00 GMT' };
    const refused = failure('InvalidSignatureException') as object;
    const { asked, endpoint } = await scriptedServer({ ...refused, headers });

    const answer = localRequests({ endpoint, nowMs: () => Date.parse('2026-11-21T10:00:30Z') })(get);

    await expect(answer).rejects.toMatchObject({ name: 'InvalidSignatureException' });
    expect(asked).toHaveLength(1);
  });
});

describe('errors of AWS', () => {
  test.each<[string, Reply, string, string]>([
    ['JSON', failure('ResourceNotFoundException'), 'ResourceNotFoundException', 'Why'],
    [
      'Lambda',
      {
        status: 404,
        headers: { 'x-amzn-errortype': 'ResourceNotFoundException:http://internal.amazon.com/' },
        body: '{"Type":"User","Message":"Function not found"}',
      },
      'ResourceNotFoundException',
      'Function not found',
    ],
    [
      'S3',
      { status: 404, body: '<Error><Code>NoSuchKey</Code><Message>No such key</Message></Error>' },
      'NoSuchKey',
      'No such key',
    ],
    ['a proxy', { status: 403, body: '<html>no</html>' }, 'HTTP 403', 'AWS returned HTTP status 403'],
  ])('an error of %s has its code as name', async (_, reply, name, message) => {
    const { endpoint } = await scriptedServer(reply);

    await expect(localRequests({ endpoint })(get)).rejects.toMatchObject({ name, message });
  });

  test('an error has the fields of its response, and none replaces its name', async () => {
    const body = JSON.stringify({
      __type: 'x#TransactionCanceledException',
      Message: 'Cancelled',
      name: 'Other',
      CancellationReasons: [{ Code: 'ConditionalCheckFailed' }],
    });
    const { endpoint } = await scriptedServer({ status: 400, body });

    await expect(localRequests({ endpoint })(get)).rejects.toMatchObject({
      name: 'TransactionCanceledException',
      message: 'Cancelled',
      CancellationReasons: [{ Code: 'ConditionalCheckFailed' }],
    });
  });
});

test('a JSON call has the prefix, the action and the version of its service', async () => {
  const { asked, endpoint } = await scriptedServer({ body: '{"SecretString":"s"}' }, { body: '' });
  const requests = localRequests({ endpoint });

  expect(await jsonCalls(requests, 'secretsmanager')('GetSecretValue', { SecretId: 'arn' })).toEqual({
    SecretString: 's',
  });
  expect(await jsonCalls(requests, 'sqs')('ChangeMessageVisibility', {})).toEqual({});

  expect(asked.map(({ headers }) => [headers['x-amz-target'], headers['content-type']])).toEqual([
    ['secretsmanager.GetSecretValue', 'application/x-amz-json-1.1'],
    ['AmazonSQS.ChangeMessageVisibility', 'application/x-amz-json-1.0'],
  ]);
  expect(asked[0]?.body).toBe('{"SecretId":"arn"}');
});

describe('endpoints', () => {
  test.each([
    ['eu-central-1', 'https://states.eu-central-1.amazonaws.com'],
    ['us-gov-west-1', 'https://states.us-gov-west-1.amazonaws.com'],
    ['cn-north-1', 'https://states.cn-north-1.amazonaws.com.cn'],
    ['eusc-de-east-1', 'https://states.eusc-de-east-1.amazonaws.eu'],
  ])('the endpoint in %s is %s', (region, endpoint) => {
    expect(regionalEndpoint('states', region)).toBe(endpoint);
  });

  test('the endpoint of the environment has the names of the SDKs', () => {
    const environment = { AWS_ENDPOINT_URL: 'http://all', AWS_ENDPOINT_URL_SFN: 'http://states' };

    expect(findOwnEndpoint('states', environment)).toBe('http://states');
    expect(findOwnEndpoint('sqs', environment)).toBe('http://all');
    expect(findOwnEndpoint('sqs', {})).toBeUndefined();
  });
});

import { describe, expect, test } from 'vitest';
import { ConnectionError, createClient, RequestInvalidError, WatchpostError } from '../../client/index.ts';

const passing = {
  error: { code: 'VLM_ERROR', message: 'Vision model analysis failed', remediation: 'Wait.' },
};
const full = { error: { code: 'MAX_JOBS_REACHED', message: 'Ten jobs', remediation: 'Cancel one.' } };
const look = { stream_url: 'rtsp://camera/1', condition: 'A ship is in the lock' };

type Answer = { status: number; body: unknown; headers?: Record<string, string> } | Error;

/** Creates a client whose service returns these responses in order, and whose clock never waits. */
function scripted(answers: Answer[], attempts?: number) {
  const requests: { url: string; headers: Headers }[] = [];
  const pauses: number[] = [];
  const client = createClient({
    baseUrl: 'https://HOST/api/',
    apiKey: 'wp_key',
    ...(attempts !== undefined && { attempts }),
    fetch: async (url, init) => {
      requests.push({ url: new Request(url).url, headers: new Headers(init?.headers) });
      const answer = answers.shift();
      if (answer === undefined) throw new Error('One request too many');
      if (answer instanceof Error) throw answer;
      const { status, body, headers = {} } = answer;
      const isRaw = typeof body === 'string' || body instanceof ReadableStream;
      return new Response(isRaw ? body : JSON.stringify(body), { status, headers });
    },
    sleep: async (milliseconds) => void pauses.push(milliseconds),
  });
  return { client, requests, pauses };
}

test('the client sends the options of an operation in its query', async () => {
  const { client, requests } = scripted(Array.from({ length: 3 }, () => ({ status: 200, body: {} })));
  await client.createWatch(
    { name: 'Gate', stream_url: 'rtsp://camera/1', conditions: [] },
    { destinationsOf: 'a' },
  );
  await client.watchStats('a', { spans: true });
  await client.rotateWebhookSecret({ grace_seconds: 60 });
  expect(requests.map(({ url }) => new URL(url).pathname + new URL(url).search)).toEqual([
    '/api/watches?destinations_of=a',
    '/api/watches/a/stats?spans=true',
    '/api/webhook-secret/rotate?grace_seconds=60',
  ]);
});

describe('createClient: retries', () => {
  test('the client retries a transient error with growing delays', async () => {
    const { client, requests, pauses } = scripted([
      { status: 500, body: passing },
      new TypeError('fetch failed'),
      { status: 200, body: { triggered: true } },
    ]);

    expect(await client.checkOnce(look)).toEqual({ triggered: true });

    expect(requests.map(({ url }) => url)).toEqual(Array(3).fill('https://host/api/check-once'));
    expect(pauses).toHaveLength(2);
    expect(pauses[1]).toBeGreaterThan(pauses[0]! / 2);
  });

  test('the client waits for the time in Retry-After', async () => {
    const limited = { error: { code: 'RATE_LIMITED', message: 'Too many calls', remediation: 'Wait.' } };
    const { client, pauses } = scripted([
      { status: 429, body: limited, headers: { 'Retry-After': '7' } },
      { status: 200, body: {} },
    ]);

    await client.checkOnce(look);

    expect(pauses).toEqual([7_000]);
  });

  test('the client throws the transient error after the last attempt', async () => {
    const { client, requests } = scripted(
      [1, 2].map(() => ({ status: 500, body: passing })),
      2,
    );

    await expect(client.checkOnce(look)).rejects.toMatchObject({ code: 'VLM_ERROR', retryable: true });

    expect(requests).toHaveLength(2);
  });

  test('the client does not retry a request that is not repeatable', async () => {
    const { client, requests } = scripted([new TypeError('fetch failed')]);

    await expect(client.resendDelivery('ID', 2)).rejects.toBeInstanceOf(ConnectionError);

    expect(requests).toHaveLength(1);
  });

  test('the client retries after an incomplete response body', async () => {
    const broken = new ReadableStream({
      start: (controller) => controller.error(new TypeError('terminated')),
    });
    const { client, requests } = scripted([
      { status: 200, body: broken },
      { status: 200, body: { jobs: [] } },
    ]);

    expect(await client.listJobs()).toEqual({ jobs: [] });

    expect(requests).toHaveLength(2);
  });

  test('the client retries a 429 of a proxy', async () => {
    const { client, requests } = scripted([
      { status: 429, body: '<html>Slow down</html>' },
      { status: 200, body: {} },
    ]);

    await client.checkOnce(look);

    expect(requests).toHaveLength(2);
  });
});

describe('createClient: job creation', () => {
  test('a retried creation carries the same idempotency key, and the next creation another one', async () => {
    const { client, requests } = scripted([
      new TypeError('fetch failed'),
      { status: 200, body: { job_id: 'a' } },
      { status: 200, body: { job_id: 'b' } },
    ]);

    await client.startMonitor(look);
    await client.startMonitor(look);

    const [first, second, third] = requests.map(({ headers }) => headers.get('Idempotency-Key'));
    expect(first).toBe(second);
    expect(third).not.toBe(first);
  });
});

describe('createClient: error responses', () => {
  test('the client throws a permanent error immediately, with code and remediation', async () => {
    const { client, requests } = scripted([{ status: 429, body: full }]);

    const error = await client.startMonitor(look).catch((thrown: unknown) => thrown);

    expect(error).toBeInstanceOf(WatchpostError);
    expect(error).toMatchObject({ status: 429, code: 'MAX_JOBS_REACHED', remediation: 'Cancel one.' });
    expect(requests).toHaveLength(1);
  });

  test('the client throws a 422 with the invalid fields', async () => {
    const detail = [{ loc: ['body', 'condition'], msg: 'Field required', type: 'missing' }];
    const { client } = scripted([{ status: 422, body: { detail } }]);

    const error = await client.checkOnce({ ...look, condition: '' }).catch((thrown: unknown) => thrown);

    expect(error).toBeInstanceOf(RequestInvalidError);
    expect(error).toMatchObject({ message: 'body.condition: Field required', detail });
  });

  test('an error page of a proxy becomes UNEXPECTED_ANSWER with a hint at the base URL', async () => {
    const { client } = scripted([{ status: 404, body: '<html>No such page</html>' }]);

    await expect(client.getJob('ID')).rejects.toMatchObject({
      code: 'UNEXPECTED_ANSWER',
      remediation: expect.stringContaining('base URL'),
    });
  });
});

test('an HTML page with status 200 becomes UNEXPECTED_ANSWER', async () => {
  const { client, requests } = scripted([{ status: 200, body: '<!doctype html>' }]);

  await expect(client.listJobs()).rejects.toMatchObject({ code: 'UNEXPECTED_ANSWER', status: 200 });

  expect(requests).toHaveLength(1);
});

test('the client sends the key in the header and filters in the query', async () => {
  const { client, requests } = scripted([{ status: 200, body: {} }]);

  await client.listJobs({ status: 'running', limit: 5 });

  expect(requests[0]?.url).toBe('https://host/api/jobs?status=running&limit=5');
  expect(requests[0]?.headers.get('Authorization')).toBe('Bearer wp_key');
});

test('an aborted call rejects with the reason of its signal and is not retried', async () => {
  const { client, requests } = scripted([new DOMException('Aborted', 'AbortError')]);

  await expect(client.getJob('ID', { signal: AbortSignal.abort(new Error('Enough')) })).rejects.toThrow(
    'Enough',
  );

  expect(requests).toHaveLength(1);
});

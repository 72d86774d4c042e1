import { Webhook } from 'standardwebhooks';
import { beforeEach, describe, expect, test } from 'vitest';
import { InvalidUrlError } from '../../../core/errors.ts';
import { deliver } from '../../../core/delivery/deliver.ts';
import type { DeliveryMessage } from '../../../core/records/delivery.ts';
import type { SentRequest } from '../../support/world.ts';
import { createClientFor, type ApiClient } from '../../support/api/api-client.ts';
import { webhookMessage } from '../../contract/records.ts';
import { createWorld } from '../../support/world.ts';
import type { World } from '../../support/world.ts';

let world: World;
let client: ApiClient;
beforeEach(async () => {
  world = createWorld();
  client = await createClientFor(world);
});

const hook = 'https://hook:pw@example.com/hook';

/** job_started (1), progress (2), watch_triggered (3), job_stopped (4). */
async function triggeredMonitor(webhookUrl: string | undefined = hook, fields: object = {}): Promise<string> {
  const { body } = await client.call('POST', '/live-monitor', {
    stream_url: 'https://example.com/live.m3u8',
    condition: 'a ship enters the lock',
    webhook_url: webhookUrl,
    ...fields,
  });
  world.script.verdicts.push(true);
  await world.tick(await world.begin({ run_id: body.job_id, generation: 0 }));
  return body.job_id;
}

/** Handles all messages, the retries of an event before the next event. */
async function deliverAll(): Promise<void> {
  for (const message of world.queued.splice(0)) {
    await deliverUntilDone(message);
    for (const retry of world.queued.splice(0)) await deliverUntilDone(retry);
  }
}

async function deliverUntilDone(message: DeliveryMessage): Promise<void> {
  let outcome = await deliver(message, world.c);
  while (outcome.kind === 'again') {
    world.advance(outcome.afterSeconds);
    outcome = await deliver(message, world.c);
  }
}

const deliveries = async (jobId: string, query = '') =>
  (await client.call('GET', `/jobs/${jobId}/deliveries${query}`)).body;
const resend = (jobId: string, sequence: number) =>
  client.call('POST', `/jobs/${jobId}/deliveries/${sequence}/resend`);
const ids = (requests: SentRequest[]) => requests.map(({ headers }) => headers['webhook-id']);

describe('the event filter of a webhook', () => {
  const types = () => world.sent.map(({ body }) => JSON.parse(body).type);
  const logged = async (jobId: string) =>
    (await client.call('GET', `/jobs/${jobId}/events`)).body.events.map(({ type }: { type: string }) => type);

  test('a webhook receives only the types in webhook_events, and the log keeps all events', async () => {
    const jobId = await triggeredMonitor(hook, { webhook_events: ['watch_triggered', 'error', 'error'] });
    await deliverAll();
    expect(types()).toEqual(['watch_triggered']);
    expect(await logged(jobId)).toEqual(['job_started', 'progress', 'watch_triggered', 'job_stopped']);
    const { config, stats } = (await client.call('GET', `/jobs/${jobId}`)).body;
    expect(config.webhook_events).toEqual(['watch_triggered', 'error']);
    expect(stats.webhook).toMatchObject({ delivered: 1, pending: 0 });
    expect(await deliveries(jobId)).toMatchObject({
      webhook_events: ['watch_triggered', 'error'],
      deliveries: [{ sequence: 3 }],
    });
    expect((await resend(jobId, 1)).status).toBe(404);
  });

  test('a job without webhook_events uses the default of its caller, and one with webhook_events does not', async () => {
    expect((await client.call('GET', '/webhook-defaults')).body).toEqual({ webhook_events: null });
    const body = { webhook_events: ['job_stopped'] };
    expect(await client.call('PUT', '/webhook-defaults', body)).toMatchObject({ status: 200, body });
    expect((await client.call('GET', '/webhook-defaults')).body).toEqual(body);

    await triggeredMonitor();
    await deliverAll();
    expect(types()).toEqual(['job_stopped']);
    await triggeredMonitor(hook, { webhook_events: ['job_started'] });
    await deliverAll();
    expect(types()).toEqual(['job_stopped', 'job_started']);

    await client.call('PUT', '/webhook-defaults', { webhook_events: null });
    await triggeredMonitor();
    await deliverAll();
    expect(types().slice(2)).toEqual(['job_started', 'watch_triggered', 'job_stopped']);
  });

  test('a URL in the defaults is ignored: the request of a job selects the delivery mode', async () => {
    const body = { webhook_events: null, webhook_url: hook };
    expect((await client.call('PUT', '/webhook-defaults', body)).body).toEqual({ webhook_events: null });
    const job = await client.call('POST', '/live-monitor', {
      stream_url: 'https://example.com/live.m3u8',
      condition: 'a ship enters the lock',
      webhook_events: ['error'],
    });
    expect(job.body.details.delivery).toBe('polling');
    expect(job.body.message).toContain('webhook_events has no effect without webhook_url');
  });

  test.each([
    { name: 'empty', filter: [] },
    { name: 'with progress', filter: ['progress'] },
    { name: 'with an unknown type', filter: ['alert'] },
    { name: 'that is no list', filter: 'watch_triggered' },
    { name: 'of thousands', filter: Array.from({ length: 5000 }, () => 'x') },
  ])('a filter $name is rejected with a short list of errors', async ({ filter }) => {
    const answer = await client.call('PUT', '/webhook-defaults', { webhook_events: filter });
    expect(answer.status).toBe(422);
    expect(answer.body.detail.length).toBeLessThan(8);
  });
});

describe('deliveries of a job', () => {
  test('the deliveries of a job list the result of each attempt', async () => {
    const jobId = await triggeredMonitor();
    world.script.webhooks.push({}, { status: 503, latencyMs: 7 }, { status: null, error: 'timed out' });
    await deliverAll();
    const body = await deliveries(jobId);
    expect(body).toMatchObject({
      job_id: jobId,
      webhook_url: 'https://hook:***@example.com/hook',
      has_more: false,
      next_after: 4,
    });
    expect(body.deliveries.map(({ sequence }: { sequence: number }) => sequence)).toEqual([1, 3, 4]);
    expect(body.deliveries[1]).toEqual({
      sequence: 3,
      type: 'watch_triggered',
      state: 'delivered',
      resend: 0,
      attempts: [
        { time: '2026-03-01T12:00:00.000Z', status: 503, latency_ms: 7, error: null, resend: 0 },
        { time: '2026-03-01T12:00:05.000Z', status: null, latency_ms: 1, error: 'timed out', resend: 0 },
        { time: '2026-03-01T12:00:30.000Z', status: 204, latency_ms: 1, error: null, resend: 0 },
      ],
      next_attempt_at: null,
      error: null,
    });
  });

  test('deliveries are read page by page, and by their state', async () => {
    const jobId = await triggeredMonitor();
    world.script.webhooks.push({}, { status: 410 });
    await deliverAll();
    const sequences = async (query: string) =>
      (await deliveries(jobId, query)).deliveries.map(({ sequence }: { sequence: number }) => sequence);
    expect(await sequences('?state=failed')).toEqual([3, 4]);
    expect(await sequences('?state=delivered')).toEqual([1]);
    expect(await deliveries(jobId, '?limit=1')).toMatchObject({ next_after: 1, has_more: true });
    expect(await sequences('?limit=1&after=1')).toEqual([3]);
    expect(await sequences('?after=4')).toEqual([]);
    expect((await client.call('GET', `/jobs/${jobId}/deliveries?state=lost`)).status).toBe(422);
  });

  test('a job without a webhook has no deliveries', async () => {
    const { body } = await client.call('POST', '/live-monitor', {
      stream_url: 'https://example.com/live.m3u8',
      condition: 'a ship',
    });
    expect(await deliveries(body.job_id)).toMatchObject({ webhook_url: null, deliveries: [] });
  });

  test('deliveries of other callers return 404, as if absent', async () => {
    const jobId = await triggeredMonitor();
    await deliverAll();
    client = await createClientFor(world, ['jobs', 'keys'], 'airport');
    for (const answer of [await client.call('GET', `/jobs/${jobId}/deliveries`), await resend(jobId, 1)])
      expect(answer).toMatchObject({ status: 404, body: { error: { code: 'JOB_NOT_FOUND' } } });
  });
});

describe('sending again', () => {
  test('a resend of a failed delivery makes four new attempts with the same webhook-id', async () => {
    const jobId = await triggeredMonitor();
    const four = Array.from({ length: 4 }, () => ({ status: 500 }));
    world.script.webhooks.push({}, ...four);
    await deliverAll();
    const [, failed] = (await deliveries(jobId)).deliveries;
    expect(failed).toMatchObject({ state: 'failed', error: expect.stringContaining('500') });

    const answer = await resend(jobId, 3);
    expect(answer).toMatchObject({
      status: 200,
      body: { job_id: jobId, sequence: 3, type: 'watch_triggered', resend: 1 },
    });
    expect(world.queued).toEqual([{ ...webhookMessage(jobId, 3), resend: 1 }]);
    world.sent.length = 0;
    world.script.webhooks.push(...four.slice(1));
    await deliverAll();

    expect(ids(world.sent)).toEqual(Array.from({ length: 4 }, () => `msg_${jobId}_3`));
    const [, arrived] = (await deliveries(jobId)).deliveries;
    expect(arrived).toMatchObject({ state: 'delivered', resend: 1, error: null });
    expect(arrived.attempts.map(({ resend: series }: { resend: number }) => series)).toEqual([
      0, 0, 0, 0, 1, 1, 1, 1,
    ]);
    const { stats } = (await client.call('GET', `/jobs/${jobId}`)).body;
    expect(stats.webhook).toMatchObject({ delivered: 3, failed: 0, failures: [] });
  });

  test('a resend of a delivered event can be repeated after a minute and not before', async () => {
    const jobId = await triggeredMonitor();
    await deliverAll();
    world.sent.length = 0;
    await resend(jobId, 1);
    await deliverAll();
    expect(ids(world.sent)).toEqual([`msg_${jobId}_1`]);
    world.sent.length = 0;
    world.advance(20);
    const refused = await resend(jobId, 1);
    expect(refused).toMatchObject({
      status: 429,
      body: { error: { code: 'RATE_LIMITED', remediation: expect.stringContaining('40 s') } },
    });
    expect(refused.headers.get('retry-after')).toBe('40');
    expect((await resend(jobId, 3)).status).toBe(200);
    world.advance(40);
    expect((await resend(jobId, 1)).body).toMatchObject({ resend: 2 });
    await deliverAll();
    expect(ids(world.sent)).toEqual([`msg_${jobId}_3`, `msg_${jobId}_1`]);
  });

  test('a clock that was set back an hour does not delay a resend', async () => {
    const jobId = await triggeredMonitor();
    await deliverAll();
    await resend(jobId, 1);
    await deliverAll();
    world.advance(-3600);
    expect((await resend(jobId, 1)).status).toBe(200);
  });

  test('two resends before the first is handled are the same message, sent once', async () => {
    const jobId = await triggeredMonitor();
    await deliverAll();
    world.sent.length = 0;
    await resend(jobId, 1);
    await resend(jobId, 1);
    expect(new Set(world.queued.map((message) => JSON.stringify(message))).size).toBe(1);
    await deliverAll();
    expect(world.sent).toHaveLength(1);
  });

  test('a resend reaches a receiver that returned 410 or failed for an hour', async () => {
    world = createWorld({ retentionSeconds: 86_400 });
    client = await createClientFor(world);
    const jobId = await triggeredMonitor();
    world.script.webhooks.push({ status: 410 });
    await deliverAll();
    expect((await deliveries(jobId, '?state=failed')).deliveries).toHaveLength(3);
    world.advance(7200);
    await resend(jobId, 4);
    await deliverAll();
    expect((await deliveries(jobId)).deliveries[2]).toMatchObject({ state: 'delivered', resend: 1 });
  });

  test('a resend of a delivery in progress is rejected', async () => {
    const jobId = await triggeredMonitor();
    expect(await resend(jobId, 1)).toMatchObject({ status: 400, body: { error: { code: 'BAD_REQUEST' } } });
    world.script.webhooks.push({ status: 500 });
    await deliver(world.queued[0]!, world.c);
    expect((await resend(jobId, 1)).status).toBe(400);
  });

  test('progress and unknown sequences have no delivery', async () => {
    const jobId = await triggeredMonitor();
    await deliverAll();
    for (const sequence of [2, 99])
      expect(await resend(jobId, sequence)).toMatchObject({
        status: 404,
        body: { error: { code: 'NOT_FOUND' } },
      });
  });

  test('a removed job has nothing to resend', async () => {
    const jobId = await triggeredMonitor();
    await deliverAll();
    world.advance(3600);
    expect((await resend(jobId, 1)).status).toBe(404);
  });
});

describe('the webhook secret', () => {
  const verifies = (secret: string, { headers, body }: SentRequest) => {
    const at = new Date(Number(headers['webhook-timestamp']) * 1000);
    const signature = new Webhook(secret).sign(headers['webhook-id']!, at, body);
    return headers['webhook-signature']!.split(' ').includes(signature);
  };
  const send = async () => {
    await client.call('POST', '/webhook-test', { webhook_url: hook });
    return world.sent.at(-1)!;
  };

  test('the webhook secret signs the events and is not cached', async () => {
    const { status, body, headers } = await client.call('GET', '/webhook-secret');
    expect(status).toBe(200);
    expect(headers.get('cache-control')).toBe('no-store');
    expect(body).toEqual({
      secret: expect.stringMatching(/^whsec_/),
      version: 1,
      previous_valid_until: null,
      fingerprint_key: expect.stringMatching(/^[\w-]{43}$/),
    });
    expect(verifies(body.secret, await send())).toBe(true);
  });

  test('a rotated secret signs immediately, together with the old one for a day', async () => {
    const before = (await client.call('GET', '/webhook-secret')).body.secret;
    const { body } = await client.call('POST', '/webhook-secret/rotate');
    expect(body).toMatchObject({ version: 2, previous_valid_until: '2026-03-02T12:00:00.000Z' });
    expect(body.secret).not.toBe(before);
    expect((await client.call('GET', '/webhook-secret')).body).toEqual(body);

    const first = await send();
    expect([verifies(before, first), verifies(body.secret, first)]).toEqual([true, true]);
    expect(first.headers['webhook-signature']!.split(' ')).toHaveLength(2);

    world.advance(86_400);
    const later = await send();
    expect([verifies(before, later), verifies(body.secret, later)]).toEqual([false, true]);
    expect((await client.call('GET', '/webhook-secret')).body.previous_valid_until).toBeNull();
  });

  test('a rotation without grace ends the old secret immediately', async () => {
    const before = (await client.call('GET', '/webhook-secret')).body.secret;
    await client.call('POST', '/webhook-secret/rotate?grace_seconds=0');
    expect(verifies(before, await send())).toBe(false);
  });

  test('a rotation leaves the secrets of other callers', async () => {
    const other = await createClientFor(world, ['jobs', 'keys'], 'airport');
    const before = (await other.call('GET', '/webhook-secret')).body;
    await client.call('POST', '/webhook-secret/rotate');
    expect((await other.call('GET', '/webhook-secret')).body).toEqual(before);
    expect(before.secret).not.toBe((await client.call('GET', '/webhook-secret')).body.secret);
  });

  test('concurrent rotations all count', async () => {
    const answers = await Promise.all(
      Array.from({ length: 4 }, () => client.call('POST', '/webhook-secret/rotate')),
    );
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    expect((await client.call('GET', '/webhook-secret')).body.version).toBe(5);
  });
});

describe('a test event', () => {
  const ask = (webhookUrl: string = hook) =>
    client.call('POST', '/webhook-test', { webhook_url: webhookUrl });

  test('a test event is sent signed, in the envelope of every event, and its result returned', async () => {
    expect(await ask()).toMatchObject({ status: 200, body: { status: 204, latency_ms: 1, error: null } });
    const [request] = world.sent;
    expect(request?.url).toBe(hook);
    expect(request?.headers['webhook-id']).toMatch(/^msg_test_/);
    expect(Object.keys(JSON.parse(request!.body))).toEqual(['type', 'timestamp', 'source_url', 'data']);
    expect(JSON.parse(request!.body)).toMatchObject({ type: 'test', timestamp: '2026-03-01T12:00:00.000Z' });
  });

  test('a test event that fails returns the reason and is not retried', async () => {
    world.script.webhooks.push({ status: 500 }, { status: null, error: 'timed out' });
    expect((await ask()).body).toEqual({ status: 500, latency_ms: 1, error: 'the receiver answered 500' });
    expect((await ask()).body).toEqual({ status: null, latency_ms: 1, error: 'timed out' });
    expect(world.sent).toHaveLength(2);
  });

  test('a test event cannot reach an address that a job cannot reach', async () => {
    world.c.webhookUrls = {
      check: () => {
        throw new InvalidUrlError('Use a public address.');
      },
    };
    expect(await ask('http://169.254.169.254/')).toMatchObject({
      status: 400,
      body: { error: { code: 'INVALID_URL' } },
    });
    expect(world.sent).toHaveLength(0);
    expect((await ask('')).status).toBe(422);
  });

  test('a test event is not a delivery of a job, so the metrics exclude it', async () => {
    await ask();
    expect((await world.c.meter.read()).deliveries).toEqual({ delivered: 0, failed: 0 });
  });
});

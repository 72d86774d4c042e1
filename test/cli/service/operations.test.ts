import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { addKeys } from '../../../cli/commands/keys.ts';
import { runCommand } from '../../support/run-command.ts';
import { startReceiver } from '../../support/servers/receiver.ts';
import { startLoop, type LoopedStream } from '../../support/hls/looped-stream.ts';
import { startService, type ServiceProcess } from '../../support/service-process.ts';
import { folderOfFile } from '../../support/temporary-folder.ts';

/** Operation of a running service: metrics, logs, keys, and a resend. */

const dataDir = folderOfFile();
let service: ServiceProcess;
let stream: LoopedStream;
let receiver: Awaited<ReturnType<typeof startReceiver>>;
let receiverStatus = 410;
let jobId: string;

beforeAll(async () => {
  stream = await startLoop('testsrc2=size=320x180:rate=5');
  service = await startService(dataDir, { WATCHPOST_LOG_LEVEL: 'debug' });
  receiver = await startReceiver(
    () => service.webhookSecret,
    () => receiverStatus,
  );
  const { body } = await service.call('POST', '/live-monitor', {
    stream_url: stream.url,
    condition: 'The picture is not black',
    input_mode: 'frames',
    webhook_url: `${receiver.url}/hook`,
  });
  jobId = body.job_id;
  await vi.waitFor(async () => expect(await statusOfJob()).toBe('completed'), patient);
});

afterAll(async () => {
  receiver.close();
  await stream.close();
  await service.kill('SIGTERM');
});

const patient = { timeout: 20_000, interval: 100 };

async function internal(path: string, key = service.internalKey) {
  const response = await fetch(`${service.baseUrl}${path}`, {
    headers: { authorization: `Bearer ${key}`, 'x-service-internal': 'true' },
  });
  return { status: response.status, body: (await response.json()) as any };
}

async function keys(...args: string[]) {
  const { stdout } = await runCommand(addKeys, 'keys', ...args, '--json', '--data-dir', dataDir);
  return JSON.parse(stdout);
}

const statusOfJob = async () => (await service.call('GET', `/jobs/${jobId}`)).body.status;
const deliveries = async () => (await service.call('GET', `/jobs/${jobId}/deliveries`)).body.deliveries;
const states = async () => (await deliveries()).map(({ state }: { state: string }) => state);

const countedWebhooks = async () => (await internal('/metrics')).body.webhooks;

describe('after a monitor whose receiver answered 410', () => {
  test('the metrics include the job, its frame, its model call and its failed webhooks', async () => {
    await expect.poll(states, patient).toEqual(['failed', 'failed', 'failed']);
    // They are counted after their states are stored.
    await expect.poll(countedWebhooks, patient).toEqual({ sent: 0, failed: 3 });
    const { stats } = (await service.call('GET', `/jobs/${jobId}`)).body;
    expect((await internal('/metrics')).body).toEqual({
      started_at: expect.stringMatching(/Z$/),
      providers: { objects: { calls: stats.checks_performed + stats.checks_missed, errors: 0 } },
      jobs: { created: 1, completed: 1, failed: 0 },
      frames: { captured: stats.frames_captured, skipped_prefilter: stats.frames_skipped },
      searches: { started: 0, model_calls: 0, cost_usd: 0 },
      moments: { dropped: 0 },
      webhooks: { sent: 0, failed: 3 },
      mails: { sent: 0, failed: 0 },
      media: { bytes: null, max_bytes: expect.any(Number), evidence_removed: 0 },
      late: expect.objectContaining({ checks: 0, interval_factor: 1, blocked_seconds: expect.any(Number) }),
      watches: expect.objectContaining({ active: 0, late: 0 }),
    });
    expect(stats).toMatchObject({ frames_captured: 1, webhook: { delivered: 0, failed: 3 } });
    expect((await internal('/metrics', service.apiKey)).status).toBe(403);
  });

  test('the log has entries about the job, found by the first eight characters of its id', async () => {
    const { body } = await internal('/logs?limit=500');
    const story = body.logs.filter(({ message }: { message: string }) =>
      message.startsWith(`[JOB:${jobId.slice(0, 8)}] `),
    );
    const text = story.map(({ message }: { message: string }) => message).join('\n');
    expect(text).toMatch(/Job accepted[^]*Job started[^]*Job ended status=completed/);
    expect(text).toContain('410 Gone');
    expect((await internal('/logs?level=ERROR')).body.logs[0]).toMatchObject({ level: 'ERROR' });
  });

  test('a failed delivery is resent to its repaired receiver', async () => {
    receiverStatus = 204;
    const before = receiver.of('/hook').length;
    for (const sequence of [1, 3]) {
      const answer = await service.call('POST', `/jobs/${jobId}/deliveries/${sequence}/resend`);
      expect(answer).toMatchObject({ status: 200, body: { sequence, resend: 1 } });
    }
    await expect.poll(states, patient).toEqual(['delivered', 'delivered', 'failed']);
    const again = receiver.of('/hook').slice(before);
    expect(again.map(({ id }) => id)).toEqual([`msg_${jobId}_1`, `msg_${jobId}_3`]);
    expect(again.every(({ verified }) => verified)).toBe(true);
    await expect.poll(countedWebhooks, patient).toEqual({ sent: 2, failed: 3 });
  });
});

test('a test event reaches the receiver with a signature', async () => {
  receiverStatus = 204;
  const { body } = await service.call('POST', '/webhook-test', { webhook_url: `${receiver.url}/test` });
  expect(body).toEqual({ status: 204, latency_ms: expect.any(Number), error: null });
  expect(receiver.of('/test')).toMatchObject([{ type: 'test', verified: true }]);
});

test('keys of the command line work in the running service immediately, and their revocation too', async () => {
  const made = await keys(
    'create',
    '--caller',
    'harbour',
    '--new-caller',
    '--internal',
    '--label',
    'dashboards',
  );
  expect(made).toMatchObject({
    caller: 'harbour',
    scopes: ['jobs', 'keys', 'internal'],
    label: 'dashboards',
  });
  expect((await internal('/metrics', made.key)).status).toBe(200);

  const next = await keys('rotate', made.prefix, '--grace-seconds', '0');
  expect((await internal('/metrics', made.key)).status).toBe(401);
  expect((await internal('/metrics', next.key)).status).toBe(200);

  expect(await keys('revoke', next.key_id, '--descendants')).toMatchObject({
    revoked_at: expect.any(String),
    descendants: [],
  });
  expect((await internal('/metrics', next.key)).status).toBe(401);
  const listed = await keys('list', '--caller', 'harbour');
  expect(listed.map(({ revoked_at: end }: { revoked_at: string }) => end !== null)).toEqual([true, true]);
});

test('an admin key of the command line creates callers and their keys', async () => {
  const { key: admin } = await keys('create', '--caller', 'house', '--new-caller', '--admin');
  const ask = (path: string, body: object, key = admin) =>
    fetch(`${service.baseUrl}${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
  expect((await ask('/callers', { caller: 'airport' })).status).toBe(200);
  const made = (await (await ask('/keys', { caller: 'airport' })).json()) as any;
  expect(made).toMatchObject({ caller: 'airport', scopes: ['jobs'] });
  expect((await ask('/callers', { caller: 'zoo' }, made.key)).status).toBe(403);
});

test('the command line works over HTTP with the permissions of its key', async () => {
  const { key: admin } = await keys('create', '--caller', 'house', '--new-caller', '--admin');
  const there = ['--base-url', service.baseUrl, '--key', admin];

  const made = await keys('create', '--caller', 'lighthouse', '--new-caller', '--label', 'lamp', ...there);
  expect(made).toMatchObject({ caller: 'lighthouse', scopes: ['jobs', 'keys'], label: 'lamp' });
  expect((await internal('/jobs', made.key)).status).toBe(200);

  const reader = await keys('create', '--caller', 'house', '--scopes', 'read', ...there);
  expect(reader).toMatchObject({ scopes: ['read'] });
  expect((await internal('/jobs', reader.key)).status).toBe(200);
  expect((await internal('/keys', reader.key)).status).toBe(403);

  const own = ['--base-url', service.baseUrl, '--key', made.key];
  const next = await keys('rotate', made.prefix, '--grace-seconds', '0', '--descendants', ...own);
  expect(next).toMatchObject({ replaces: { key_id: made.key_id, descendants: [] } });
  expect(await keys('label', next.key_id, 'lamp 2', ...there)).toMatchObject({ label: 'lamp 2' });
  expect(await keys('revoke', next.key_id, ...there)).toMatchObject({ revoked_at: expect.any(String) });
  const listed = await keys('list', '--caller', 'lighthouse', ...there);
  expect(listed.map(({ key_id: id }: { key_id: string }) => id)).toEqual([made.key_id, next.key_id]);

  await Promise.all([
    expect(keys('list', '--base-url', service.baseUrl, '--key', made.key)).rejects.toThrow(
      'Authentication required',
    ),
    expect(keys('list', '--base-url', service.baseUrl)).rejects.toThrow('--key'),
    expect(keys('list', ...there, '--stack', 'watchpost')).rejects.toThrow('Several services'),
  ]);
});

test('a service that starts without deliveries tells no receiver, and the next start does', async () => {
  await service.kill('SIGTERM');
  receiverStatus = 204;
  service = await startService(dataDir, {}, 30, ['--no-deliveries']);
  const { body } = await service.call('POST', '/live-monitor', {
    stream_url: stream.url,
    condition: 'The picture is not black',
    input_mode: 'frames',
    webhook_url: `${receiver.url}/waits`,
  });
  const status = async () => (await service.call('GET', `/jobs/${body.job_id}`)).body.status;
  await vi.waitFor(async () => expect(await status()).toBe('completed'), patient);
  expect(receiver.of('/waits')).toEqual([]);
  await service.kill('SIGTERM');
  service = await startService(dataDir);
  await vi.waitFor(
    () => expect(receiver.of('/waits').map(({ type }) => type)).toContain('watch_triggered'),
    patient,
  );
});

test('a restart resets the counters', async () => {
  await service.kill('SIGTERM');
  service = await startService(dataDir);
  expect((await internal('/metrics')).body).toMatchObject({
    providers: { objects: { calls: 0, errors: 0 } },
    jobs: { created: 0, completed: 0, failed: 0 },
    frames: { captured: 0, skipped_prefilter: 0 },
    webhooks: { sent: 0, failed: 0 },
  });
  expect((await service.call('GET', `/jobs/${jobId}`)).body.status).toBe('completed');
});

test('the erasure of a caller removes the address at which it opened the console', async () => {
  const { key: admin } = await keys('create', '--caller', 'house', '--new-caller', '--admin');
  const { key } = await keys('create', '--caller', 'visitor', '--new-caller');
  const { origin } = new URL(service.baseUrl);
  const ask = (method: string, path: string, bearer: string) =>
    fetch(`${service.baseUrl}${path}`, {
      method,
      headers: { authorization: `Bearer ${bearer}`, Origin: origin, 'Watchpost-Console': origin },
    });
  const read = () => readFileSync(join(dataDir, 'console-addresses.json'), 'utf8');
  expect((await ask('POST', '/session', key)).status).toBe(200);
  expect(read()).toContain('visitor');
  expect((await ask('DELETE', '/callers/visitor', admin)).status).toBe(200);
  expect(read()).not.toContain('visitor');
});

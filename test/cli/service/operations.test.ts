import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { addKeys } from '../../../cli/commands/keys.ts';
import { runCommand } from '../../support/run-command.ts';
import { startReceiver } from '../../support/servers/receiver.ts';
import { startLoop, type LoopedStream } from '../../support/hls/looped-stream.ts';
import { startService, type ServiceProcess } from '../../support/service-process.ts';
import { folderOfFile } from '../../support/temporary-folder.ts';

/** Operation of a running service: metrics, keys, deliveries, and the limit of direct calls. */

const dataDir = folderOfFile();
let service: ServiceProcess;
let stream: LoopedStream;
let receiver: Awaited<ReturnType<typeof startReceiver>>;
let receiverStatus = 410;
let jobId: string;

beforeAll(async () => {
  stream = await startLoop('testsrc2=size=320x180:rate=5');
  service = await startService(dataDir, { WATCHPOST_LOG_LEVEL: 'debug', WATCHPOST_SYNC_PER_MINUTE: '20' });
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

test('a failed delivery is resent to its repaired receiver', async () => {
  await expect.poll(states, patient).toEqual(['failed', 'failed', 'failed']);
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

test('a setting limits all direct calls together', async () => {
  const body = { stream_url: 'nonsense', condition: 'The picture is black' };
  const statuses: number[] = [];
  // Each of two limits would permit more than half of these calls; a refused one is answered after a second.
  while (statuses.length < 30 && statuses.at(-1) !== 429) {
    const path = statuses.length % 2 === 0 ? '/streams/validate' : '/check-once';
    statuses.push((await service.call('POST', path, body)).status);
  }
  expect(statuses.at(-1)).toBe(429);
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

import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startLoop, type LoopedStream } from '../../support/hls/looped-stream.ts';
import { startService } from '../../support/service-process.ts';

const run = promisify(execFile);
const directory = mkdtempSync(join(tmpdir(), 'watchpost-backup-'));
const [original, copy] = ['original', 'copy'].map((name) => join(directory, name)) as [string, string];
const backup = (from: string, to: string) =>
  run(process.execPath, ['cli/watchpost.ts', 'backup', to, '--data-dir', from]);
let stream: LoopedStream;

beforeAll(async () => {
  stream = await startLoop('testsrc2=size=320x180:rate=5');
});

afterAll(async () => {
  await stream.close();
  rmSync(directory, { recursive: true, force: true });
});

test('a backup made during service starts with its keys and its secret, and its job continues', async () => {
  const service = await startService(original);
  const { body: job } = await service.call('POST', '/live-monitor', {
    stream_url: stream.url,
    condition: 'It is entirely pink',
    input_mode: 'frames',
    interval_seconds: 5,
  });
  const checks = async (of: typeof service) =>
    (await of.call('GET', `/jobs/${job.job_id}`)).body.stats.checks_performed;
  while ((await checks(service)) < 1) await sleep(100);
  await backup(original, copy);
  await service.kill('SIGTERM');

  expect(statSync(copy).mode & 0o077).toBe(0);
  expect(statSync(join(copy, 'watchpost.sqlite')).mode & 0o077).toBe(0);
  const restored = await startService(copy);
  try {
    expect(restored.apiKey).toBe(service.apiKey);
    expect(restored.webhookSecret).toBe(service.webhookSecret);
    while ((await checks(restored)) < 2) await sleep(100);
    expect((await restored.call('GET', `/jobs/${job.job_id}`)).body.status).toBe('running');
    expect((await restored.call('GET', `/jobs/${job.job_id}/events`)).body.events[0].type).toBe(
      'job_started',
    );
  } finally {
    await restored.kill('SIGTERM');
  }
});

test('a backup is rejected if the target exists or there is no database', async () => {
  await expect(backup(original, directory)).rejects.toThrow('already exists');
  const absent = join(directory, 'absent');
  await expect(backup(absent, join(directory, 'another'))).rejects.toThrow('No database in');
  expect([absent, join(directory, 'another')].map(existsSync)).toEqual([false, false]);
});

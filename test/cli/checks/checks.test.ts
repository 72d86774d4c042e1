import { describeSpeed } from '../../../cli/commands/doctor.ts';
import { describe, expect, test } from 'vitest';
import {
  clockFinding,
  diskFinding,
  guardFinding,
  portsFinding,
  watchesFinding,
} from '../../../cli/checks/checks.ts';
import { readSettings } from '../../../cli/settings.ts';
import { worstStatus } from '../../../core/ports/observability.ts';

const local = { type: 0xef53, bavail: 100, bsize: 1e9 };
const settings = (env: Record<string, string>) => readSettings({}, env);

describe('the check of the disk', () => {
  test.each([
    ['a local disk with space', local, 'ok'],
    ['a disk that is nearly full', { ...local, bavail: 1 }, 'warning'],
    ['a full disk', { ...local, bavail: 0 }, 'failed'],
    ['NFS', { ...local, type: 0x6969 }, 'warning'],
    ['a share of Windows', { ...local, type: 0xff534d42 }, 'warning'],
  ])('%s gives its status, and a next step unless all is well', async (_, disk, status) => {
    const found = await diskFinding('/data', async () => disk);
    expect(found.status).toBe(status);
    expect(found.next === null).toBe(status === 'ok');
    expect(found.message).not.toContain('/data');
  });

  test('a folder that cannot be read fails', async () => {
    expect(await diskFinding('/nowhere/at/all')).toMatchObject({
      status: 'failed',
      next: expect.stringContaining('WATCHPOST_DATA_DIR'),
    });
  });
});

describe('the check of the clock', () => {
  const now = new Date('2026-11-01T12:00:00Z');

  test.each([
    [now, undefined, 'ok'],
    [now, new Date('2026-11-01T12:00:30Z'), 'ok'],
    [now, new Date('2026-11-01T15:00:00Z'), 'warning'],
    [new Date('1970-01-01T00:05:00Z'), undefined, 'failed'],
  ])('the clock at %s with the newest stored time %s gives %s', (time, newest, status) => {
    expect(clockFinding(time, newest).status).toBe(status);
  });
});

test('the check of ports warns of a service that other machines reach without TLS', () => {
  expect(portsFinding(settings({}), 8787).status).toBe('ok');
  expect(portsFinding(settings({ WATCHPOST_HOST: '::1' }), 8787).status).toBe('ok');
  expect(portsFinding(settings({ WATCHPOST_HOST: '0.0.0.0' }), 8787).status).toBe('warning');
  const proxied = { WATCHPOST_HOST: '0.0.0.0', WATCHPOST_PUBLIC_URL: 'https://watch.example.com' };
  expect(portsFinding(settings(proxied), 8787).status).toBe('ok');
});

test('the check of the guard keeps ranges out of its message, and warns of a range of all addresses', () => {
  const home = guardFinding(settings({ WATCHPOST_ALLOW_RANGES: '192.168.1.20/32' }));
  expect(home).toMatchObject({ status: 'ok', detail: expect.stringContaining('192.168.1.20/32') });
  expect(home.message).not.toContain('192.168');
  expect(guardFinding(settings({ WATCHPOST_ALLOW_WEBHOOK_RANGES: '0.0.0.0/0' })).status).toBe('warning');
});

test('the check of watches names those that do not watch, and is fine without them', () => {
  const fine = {
    active: 2,
    off_schedule: 1,
    budget_exhausted: 0,
    stream_lost: 0,
    late: 0,
    unjudged: 0,
    destinations_failing: 0,
  };
  expect(watchesFinding(fine)).toMatchObject({ status: 'ok', message: '3 not paused, 2 active' });
  const trouble = {
    ...fine,
    stream_lost: 2,
    budget_exhausted: 1,
    late: 1,
    unjudged: 1,
    destinations_failing: 3,
  };
  expect(watchesFinding(trouble)).toMatchObject({
    status: 'warning',
    message:
      '6 not paused: 2 without stream, 1 without budget, 1 late, 1 without verdicts, 3 with a failing destination',
  });
});

test('the worst finding decides the status of all', () => {
  const finding = (status: 'ok' | 'pending' | 'warning' | 'failed') => ({
    check: 'disk',
    status,
    message: '',
    next: null,
  });
  expect(worstStatus([])).toBe('ok');
  expect(worstStatus([finding('ok'), finding('pending')])).toBe('ok');
  expect(worstStatus([finding('warning'), finding('ok')])).toBe('warning');
  expect(worstStatus([finding('warning'), finding('failed')])).toBe('failed');
});

test.each([
  [6, 'a check takes 6 s here: 10 streams at 60 s'],
  [0.12, 'a check takes 0.1 s here: 500 streams at 60 s'],
  [31.4, 'a check takes 31 s here: 1 stream at 60 s'],
  [75, 'a check takes 75 s here: not even one stream at 60 s'],
])('a check of %s s is a number of streams', (seconds, sentence) => {
  expect(describeSpeed(seconds, 1)).toBe(sentence);
});

import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { healthy, VirtualJobs } from '../../simulation/virtual-jobs.ts';

/** Scheduler, stores and maintenance of the embedded service on a machine that sleeps, and with a full disk. */

const hour = 3600;
let jobs: VirtualJobs;

beforeEach(() => {
  jobs = new VirtualJobs({ seed: 1, habits: healthy });
  jobs.service.start();
});
afterEach(() => jobs.service.close());

/** Runs in the next capture, before its frame. */
function duringCapture(run: () => Promise<void>): void {
  jobs.service.outside.interruptions.push({ at: 'capture', run });
}

const fourHours = { interval_seconds: 10, monitor_duration_seconds: 4 * hour, max_triggers: null };

describe('a machine that sleeps', () => {
  test.each([
    { minutes: 3, interval: 10 },
    { minutes: 11, interval: 10 },
    { minutes: 90, interval: 300 },
  ])(
    'a sleep of $minutes minutes fails no job that waits $interval s for its next tick',
    async ({ minutes, interval }) => {
      const job = await jobs.start('monitor', { ...fourHours, interval_seconds: interval });
      await jobs.pass(55);
      jobs.service.time.sleep(minutes * 60);
      await jobs.pass(2 * interval + 120);
      const read = await jobs.read(job);
      expect(read.status).toBe('running');
      expect(read.counters.checks_performed).toBeGreaterThan(1);
    },
  );

  test('a sleep fails no job whose tick runs during the maintenance', async () => {
    const job = await jobs.start('monitor', fourHours);
    await jobs.pass(55);
    const { promise, resolve } = Promise.withResolvers<void>();
    duringCapture(() => promise);
    await jobs.pass(2);
    await jobs.pass(2);
    jobs.service.time.sleep(20 * 60);
    // Two sweeps run during the tick: the first extends the leases, the second applies them ten minutes later.
    await jobs.pass(45);
    expect((await jobs.read(job)).status).toBe('running');
    resolve();
    await jobs.pass(60);
    const read = await jobs.read(job);
    expect(read).toMatchObject({ status: 'running', sight: { gaps: [{ reason: 'service' }] } });
  });

  test('a start extends the leases of its jobs before the first sweep', async () => {
    const job = await jobs.start('monitor', fourHours);
    const { promise, resolve } = Promise.withResolvers<void>();
    await jobs.pass(45);
    duringCapture(() => promise);
    await jobs.pass(6);
    jobs.service.time.sleep(30 * 60);
    await jobs.pass(10);
    const read = await jobs.read(job);
    expect(Date.parse(read.lease_until)).toBeGreaterThan(jobs.service.time.nowMs);
    resolve();
  });
});

describe('a disk that is full for eleven minutes', () => {
  test('a full disk for eleven minutes fails no job', async () => {
    const job = await jobs.start('monitor', fourHours);
    await jobs.pass(55);
    jobs.service.outside.diskFullShare = 1;
    await jobs.pass(11 * 60);
    jobs.service.outside.diskFullShare = 0;
    await jobs.pass(120);
    const read = await jobs.read(job);
    expect(read).toMatchObject({ status: 'running', sight: { gaps: [{ reason: 'service' }] } });
  });
});

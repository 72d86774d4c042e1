import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { start } from '../contract/records.ts';
import { VirtualTime } from '../simulation/virtual-time.ts';
import { startVirtualService } from '../simulation/jobs/job-service.ts';

/** Scheduler, stores and maintenance of the embedded service on a machine that sleeps, and with a full disk. */

const hour = 3600;
let clock: VirtualTime;
let service: Awaited<ReturnType<typeof startVirtualService>>;
/** Runs in the next capture, before its frame. */
let duringCapture: () => Promise<void>;

beforeEach(async () => {
  clock = new VirtualTime(start.getTime());
  duringCapture = async () => undefined;
  service = await startVirtualService(clock, stream(), 24 * hour);
});
afterEach(() => service.close());

function stream(): Parameters<typeof startVirtualService>[1] {
  let segment = 0;
  return {
    capture: async () => {
      const during = duringCapture;
      duringCapture = async () => undefined;
      await during();
      segment += 1;
      return {
        frame: new Uint8Array([255, 216]),
        thumbnail: new Uint8Array(),
        capturedAt: clock.now(),
        position: { segment: `${segment}:/${segment}.ts`, segment_seconds: 2 },
      };
    },
    judge: async () => ({
      triggered: false,
      explanation: 'It is not there.',
      tokens: { input_tokens: 10, output_tokens: 2 },
    }),
    compareMotion: () => ({
      moved: true,
      changedShare: 0.1,
      black: false,
      identicalToPrevious: false,
      stateWithNewReference: 'looked',
      stateWithSameReference: 'skipped',
      earlier: [],
    }),
  };
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
      const jobId = await service.startMonitor({ ...fourHours, interval_seconds: interval });
      await clock.pass(55);
      clock.sleep(minutes * 60);
      await clock.pass(2 * interval + 120);
      const { job } = await service.read(jobId);
      expect(job.status).toBe('running');
      expect(job.counters.checks_performed).toBeGreaterThan(1);
    },
  );

  test('a sleep fails no job whose tick runs during the maintenance', async () => {
    const jobId = await service.startMonitor(fourHours);
    await clock.pass(55);
    const { promise, resolve } = Promise.withResolvers<void>();
    duringCapture = () => promise;
    await clock.pass(2);
    await clock.pass(2);
    clock.sleep(20 * 60);
    // Two sweeps run during the tick: the first extends the leases, the second applies them ten minutes later.
    await clock.pass(45);
    expect((await service.read(jobId)).job.status).toBe('running');
    resolve();
    await clock.pass(60);
    const { job } = await service.read(jobId);
    expect(job).toMatchObject({ status: 'running', sight: { gaps: [{ reason: 'service' }] } });
  });

  test('a start extends the leases of its jobs before the first sweep', async () => {
    const jobId = await service.startMonitor(fourHours);
    const { promise, resolve } = Promise.withResolvers<void>();
    await clock.pass(45);
    duringCapture = () => promise;
    await clock.pass(6);
    clock.sleep(30 * 60);
    await clock.pass(10);
    const { job } = await service.read(jobId);
    expect(Date.parse(job.lease_until)).toBeGreaterThan(clock.now().getTime());
    resolve();
  });
});

describe('a disk that is full for eleven minutes', () => {
  test('a full disk for eleven minutes fails no job', async () => {
    const jobId = await service.startMonitor(fourHours);
    await clock.pass(55);
    service.fillDisk(true);
    await clock.pass(11 * 60);
    service.fillDisk(false);
    await clock.pass(120);
    const { job } = await service.read(jobId);
    expect(job).toMatchObject({ status: 'running', sight: { gaps: [{ reason: 'service' }] } });
  });
});

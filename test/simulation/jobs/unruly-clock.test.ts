import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { computeCoverage } from '../../../core/tick/coverage.ts';
import { isDeliveredByWebhook } from '../../../core/records/delivery.ts';
import type { Job } from '../../../core/records/job.ts';
import { cancelJob } from '../../../core/job/end-job.ts';
import { start } from '../../contract/records.ts';
import { VirtualTime } from '../virtual-time.ts';
import {
  clockDifferenceSeconds,
  createDisturbedStream,
  disturbances,
  knownSeconds,
  type Check,
  type Disturbance,
} from './unruly-clock.ts';
import { startVirtualService } from './job-service.ts';

/** Jobs on a machine that sleeps, whose clock is set forward and back and runs slow or fast, and whose disk fills up. */

const day = 86_400;
const intervalSeconds = 10;
const holdsIn = (frame: number) => frame % 7 < 3;

type Kind = 'monitor' | 'digest';

async function live(kind: Kind, config: Record<string, unknown>, script: Disturbance[]) {
  const clock = new VirtualTime(start.getTime());
  const disturbed = createDisturbedStream(clock, holdsIn);
  const service = await startVirtualService(clock, disturbed.stream, 4 * day);
  try {
    const jobId = await (kind === 'monitor' ? service.startMonitor(config) : service.startDigest(config));
    await clock.pass(60);
    for (const each of script) await disturb(each, clock, disturbed, service);
    await clock.pass(60);
    const { job } = await service.read(jobId);
    const readAt = clock.now();
    const covered = computeCoverage(job, readAt);
    // A job that is older than its duration has ended: steps forward and sleeps count.
    await cancelJob(jobId, 'harbour', service.c).catch(() => undefined);
    await clock.pass(900);
    return { running: job, covered, readAt, checks: disturbed.checks(), ...(await service.read(jobId)) };
  } finally {
    service.close();
  }
}

type Service = Awaited<ReturnType<typeof startVirtualService>>;
type Lived = Awaited<ReturnType<typeof live>>;

async function disturb(
  { kind, seconds, rate, at, calmSeconds }: Disturbance,
  clock: VirtualTime,
  { disturbNext }: ReturnType<typeof createDisturbedStream>,
  { fillDisk }: Service,
): Promise<void> {
  const happen = () => {
    if (kind === 'step') clock.step(seconds);
    if (kind === 'sleep') clock.sleep(seconds);
    if (kind === 'rate') clock.runAt(rate);
  };
  if (kind === 'full disk') {
    fillDisk(true);
    await clock.pass(seconds);
    fillDisk(false);
    // Until the writes that waited have been tried again.
    await clock.pass(60);
  } else if (at === 'any time') happen();
  else disturbNext(at, happen);
  await clock.pass(calmSeconds);
}

/** Neither too few alerts nor too many: with a verdict that holds there is one, unless the cooldown runs. */
function expectAlerts({ events, checks }: Lived, cooldownSeconds: number): void {
  const alerted = new Set(
    events.flatMap((event, index) => {
      const progress = events[index - 1];
      return event.type === 'watch_triggered' && progress?.type === 'progress' ? [progress.data.check] : [];
    }),
  );
  const known = knownSeconds(checks, intervalSeconds);
  let [least, most, steps] = [Infinity, Infinity, 0];
  for (const [index, { holds }] of checks.entries()) {
    least += known[index]?.min ?? 0;
    most += known[index]?.max ?? 0;
    steps += 1;
    const alerts = alerted.has(index + 1);
    if (!holds) expect(alerts).toBe(false);
    else {
      // The clock runs slow or fast, and the service ignores a step below the allowed clock difference.
      const slack = clockDifferenceSeconds + steps;
      if (least >= cooldownSeconds + slack || cooldownSeconds === 0) expect(alerts).toBe(true);
      if (most < cooldownSeconds - slack) expect(alerts).toBe(false);
    }
    if (alerts) [least, most, steps] = [0, 0, 0];
  }
}

/** Checks that no pause between checks is much longer than the interval while machine and disk work, whatever the clock reads. */
function expectChecks({ checks }: Lived, script: Disturbance[]): void {
  const fullSeconds = script.some(({ kind }) => kind === 'full disk') ? 900 : 0;
  checks.slice(1).forEach((check, index) => {
    const pause = check.awakeSeconds - (checks[index] as Check).awakeSeconds;
    expect(pause).toBeLessThanOrEqual(1.2 * (intervalSeconds + clockDifferenceSeconds + 1) + fullSeconds);
  });
}

function expectCoverage({ covered, running, checks, readAt }: Lived, script: Disturbance[]): void {
  const known = knownSeconds(checks, intervalSeconds);
  const sinceLast = readAt.getTime() / 1000 - (checks.at(-1)?.wallSeconds ?? 0);
  const total = covered.watched_seconds + covered.gap_seconds;
  const slack = (script.length + 2) * (clockDifferenceSeconds + intervalSeconds);
  const sinceStart = total - Math.max(0, sinceLast);
  expect(sinceStart).toBeGreaterThanOrEqual(sum(known.map(({ min }) => min)) - slack);
  expect(sinceStart).toBeLessThanOrEqual(sum(known.map(({ max: most }) => most)) + slack);
  expect(covered.ratio).toBeCloseTo(covered.watched_seconds / total, 2);
  expect(covered.watched_seconds).toBeGreaterThanOrEqual(0);
  for (const { from, to } of running.sight.gaps) expect(Date.parse(to)).toBeGreaterThan(Date.parse(from));
  const unwatched = known.flatMap(({ min: least }) => (least > 2 * intervalSeconds + 30 + 10 ? [least] : []));
  expect(covered.gap_seconds).toBeGreaterThanOrEqual(sum(unwatched) - slack);
}

function sum(values: number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

function expectNotFailed({ status, reason }: Job): void {
  expect(status === 'stopped' ? reason : status).not.toBe('failed');
  if (status === 'stopped') expect(['cancelled', 'max_duration_reached']).toContain(reason);
}

function expectDelivered({ events, accepted }: Lived): void {
  expect(events.map(({ sequence }) => sequence)).toEqual(events.map((_, index) => index + 1));
  // At least once: where its end was not stored, a delivery is repeated with the same id.
  expect([...new Set(accepted)].toSorted((a, b) => a - b)).toEqual(
    events.filter(({ type }) => isDeliveredByWebhook(type)).map(({ sequence }) => sequence),
  );
}

describe('whatever its clock does', () => {
  test.each([0, 30, 120])(
    'a monitor with a cooldown of %d s fails not, suppresses no alert and repeats none, and its coverage adds up',
    async (cooldownSeconds) => {
      const config = {
        interval_seconds: intervalSeconds,
        monitor_duration_seconds: 4 * day,
        trigger_cooldown_seconds: cooldownSeconds,
        max_triggers: null,
      };
      await fc.assert(
        fc.asyncProperty(disturbances, async (script) => {
          const lived = await live('monitor', config, script);
          expectNotFailed(lived.running);
          expectNotFailed(lived.job);
          expectAlerts(lived, cooldownSeconds);
          expectChecks(lived, script);
          expectCoverage(lived, script);
          expectDelivered(lived);
        }),
        { numRuns: 3, endOnFailure: true },
      );
    },
    120_000,
  );

  test('a digest fails not, and tells of every sample in one of its windows', async () => {
    const config = { window_minutes: 3, capture_interval_seconds: intervalSeconds };
    await fc.assert(
      fc.asyncProperty(disturbances, async (script) => {
        const lived = await live('digest', config, script);
        expectNotFailed(lived.job);
        expectDelivered(lived);
        const summaries = lived.events.flatMap((each) =>
          each.type === 'summary_generated' ? [each.data] : [],
        );
        expect(summaries.map(({ window_index: index }) => index)).toEqual(summaries.map((_, at) => at + 1));
        expect(sum(summaries.map(({ frames_captured: count }) => count))).toBe(
          lived.job.counters.frames_captured,
        );
        for (const { window_start: from, window_end: to } of summaries)
          expect(Date.parse(to)).toBeGreaterThan(Date.parse(from));
      }),
      { numRuns: 3, endOnFailure: true },
    );
  }, 120_000);
});

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { computeCoverage } from '../../../core/tick/coverage.ts';
import { isDeliveredByWebhook } from '../../../core/records/delivery.ts';
import { rules } from '../../../core/rules.ts';
import { after } from '../../contract/records.ts';
import { boundsOfGaps, expectedAlerts, expectedGaps, toSeconds, unmissable } from './expected.ts';
import { maxEpisodeSeconds, scripts, scriptSeconds, type Script } from './scripted-stream.ts';
import { watchTwoHours } from './job-service.ts';

/** Two hours of a stream with dropouts, expired URLs, stalls, frozen, black and still pictures and a model that falls silent, in seconds. */

type Watched = Awaited<ReturnType<typeof watchTwoHours>>;

const quiet: Script = { troubles: [], episodes: [] };

/** Time of the last tick of a generation, at one tick every 5 s. */
const handOverSeconds = 10 * 5 * rules.ticksPerExecution;

function watch(script: Script, intervalSeconds: number, config: Record<string, unknown> = {}) {
  return watchTwoHours(script, {
    interval_seconds: intervalSeconds,
    monitor_duration_seconds: scriptSeconds,
    input_mode: 'frames',
    trigger_cooldown_seconds: maxEpisodeSeconds,
    max_triggers: null,
    ...config,
  });
}

/** Checks a watch, however it ended: the gaps are reported, every event arrives once, and nothing follows the end. */
function expectTold({ job, events, attempts, accepted }: Watched): void {
  const gaps = expectedGaps(attempts, new Date(job.ended_at!));
  const coverage = computeCoverage(job, after(100_000));
  expect(coverage.gap_seconds).toBeCloseTo(toSeconds(gaps), 2);
  expect(coverage.gaps).toEqual(gaps.slice(-20));
  const elapsedSeconds = (Date.parse(job.ended_at!) - Date.parse(job.started_at!)) / 1000;
  expect(coverage.ratio).toBeCloseTo(1 - toSeconds(gaps) / elapsedSeconds, 2);
  expect(events.map(({ sequence }) => sequence)).toEqual(events.map((_, index) => index + 1));
  expect(events.at(-1)?.type).toBe('job_stopped');
  // A retry does not delay later events.
  expect(accepted.toSorted((a, b) => a - b)).toEqual(
    events.filter(({ type }) => isDeliveredByWebhook(type)).map(({ sequence }) => sequence),
  );
  const looks = events.flatMap((event) => (event.type === 'progress' ? [event.data] : []));
  expect(looks).toHaveLength(attempts.length);
  expect(looks.map(({ stream }) => stream === 'reconnecting')).toEqual(
    attempts.map(({ result }) => result === 'failed'),
  );
}

const filterAlerts = ({ events }: Watched) => events.filter(({ type }) => type === 'watch_triggered');

describe('a watch of two hours', () => {
  test.each([
    { intervalSeconds: 5, numRuns: 1 },
    { intervalSeconds: 10, numRuns: 2 },
    { intervalSeconds: 30, numRuns: 3 },
  ])(
    'every $intervalSeconds s covers what it should, alerts once an event and ends with the cap',
    async ({ intervalSeconds, numRuns }) => {
      let refused = 0;
      await fc.assert(
        fc.asyncProperty(scripts(intervalSeconds), async (script) => {
          const watched = await watch(script, intervalSeconds);
          expect(watched.job).toMatchObject({ status: 'stopped', reason: 'max_duration_reached' });
          expect(watched.job.ended_at).toBe(after(scriptSeconds).toISOString());
          expectTold(watched);
          const { gap_seconds: gapSeconds } = computeCoverage(watched.job, after(100_000));
          const bounds = boundsOfGaps(script, intervalSeconds);
          expect(gapSeconds).toBeGreaterThanOrEqual(bounds.min);
          expect(gapSeconds).toBeLessThanOrEqual(bounds.max);
          expect(filterAlerts(watched)).toHaveLength(expectedAlerts(script, watched.attempts));
          expect(filterAlerts(watched).length).toBeGreaterThanOrEqual(unmissable(script, intervalSeconds));
          refused += watched.refused;
        }),
        // To make a failing script smaller takes longer than anybody waits; its seed is printed.
        { numRuns, endOnFailure: true },
      );
      // A script with few alerts may have no delivery that the receiver refuses.
      expect(refused).toBeGreaterThan(0);
    },
    60_000,
  );

  test('a watch of a healthy stream covers all of it, in several executions', async () => {
    const watched = await watch(quiet, 5);
    expectTold(watched);
    expect(watched.attempts).toHaveLength(scriptSeconds / 5);
    expect(watched.job.generation).toBe(Math.floor(scriptSeconds / 5 / rules.ticksPerExecution));
    expect(computeCoverage(watched.job, after(100_000))).toMatchObject({
      ratio: 1,
      gap_seconds: 0,
      gaps: [],
    });
  }, 60_000);

  test('a watch checks no frozen frame a second time after a hand-over', async () => {
    const frozen = { kind: 'frozen', from: handOverSeconds - 100, to: handOverSeconds + 200 } as const;
    const episodes = [{ from: frozen.from - 20, to: frozen.from + 20 }];
    const watched = await watch({ troubles: [frozen], episodes }, 5, { trigger_cooldown_seconds: 0 });
    expect(watched.job.generation).toBeGreaterThan(0);
    expect(filterAlerts(watched).length).toBeGreaterThan(0);
    const secondsOfAlert = filterAlerts(watched).map(
      ({ timestamp }) => (Date.parse(timestamp) - after(0).getTime()) / 1000,
    );
    expect(Math.max(...secondsOfAlert)).toBeLessThan(frozen.from + 40);
    expect(watched.job.counters.frozen_frames).toBeGreaterThan(50);
  }, 60_000);

  test('a watch measures one grace period of a stale playlist across a hand-over', async () => {
    const from = handOverSeconds - 30;
    const watched = await watch({ ...quiet, finally: { kind: 'stalled', from } }, 5);
    expect(watched.job).toMatchObject({ status: 'failed', reason: 'stream_lost' });
    const lostAfterSeconds = (Date.parse(watched.job.ended_at!) - after(from).getTime()) / 1000;
    expect(lostAfterSeconds).toBeLessThanOrEqual(60 + 10 + 16 + 6);
    expect(watched.events.at(-1)?.type).toBe('job_stopped');
  }, 60_000);

  test('a watch with max_triggers 2 ends with the second alert', async () => {
    const episodes = [600, 1800, 3000].map((from) => ({ from, to: from + 100 }));
    const watched = await watch({ ...quiet, episodes }, 10, { max_triggers: 2 });
    expect(watched.job).toMatchObject({ status: 'completed', reason: 'max_triggers_reached' });
    expect(filterAlerts(watched).map(({ timestamp }) => timestamp)).toEqual([
      after(600).toISOString(),
      after(1800).toISOString(),
    ]);
    expectTold(watched);
  });

  test.each([
    ['goes down', 'down'],
    ['stands still', 'stalled'],
  ] as const)('a watch of a stream that %s for good fails after the grace period', async (_what, kind) => {
    const watched = await watch({ ...quiet, finally: { kind, from: 4000 } }, 10);
    expect(watched.job).toMatchObject({ status: 'failed', reason: 'stream_lost' });
    const endedAt = (Date.parse(watched.job.ended_at!) - after(4000).getTime()) / 1000;
    expect(endedAt).toBeGreaterThan(60);
    expect(endedAt).toBeLessThanOrEqual(60 + 10 + 16 + 6);
    expect(watched.events.slice(-2).map(({ type }) => type)).toEqual(['error', 'job_stopped']);
    expectTold(watched);
  });

  test('a watch of a stream that ends stops with it', async () => {
    const watched = await watch({ ...quiet, finally: { kind: 'ended', from: 4000 } }, 10);
    expect(watched.job).toMatchObject({ status: 'stopped', reason: 'stream_ended' });
    expect(watched.job.ended_at).toBe(after(4000).toISOString());
    expectTold(watched);
  });
});

import { describe, expect, test } from 'vitest';
import { computeNeeds, countJobsAtLimit, findHottestKey } from '../../bench/aws-load/needs.ts';
import type { Load } from '../../bench/aws-load/needs.ts';

const load: Load = {
  jobs: 1000,
  intervalSeconds: 10,
  skippedShare: 0,
  jobsPerCaller: 10,
  alertsPerHour: 1,
  pollsPerMinute: 1,
};
const tick = {
  reads: 4,
  writes: 9,
  byClass: new Map([
    ['RUN#', { reads: 4, writes: 6 }],
    ['TOTALS# METER', { reads: 0, writes: 2 }],
    ['CALLER# USE', { reads: 0, writes: 1 }],
  ]),
};
const transitions = { perBurst: 4, perExecution: 3 };

describe('needs of a load', () => {
  test('the needs grow with the jobs and are sorted by their share of the quota', () => {
    const needs = computeNeeds(load, tick, transitions);
    const twice = computeNeeds({ ...load, jobs: 2000 }, tick, transitions);

    expect(needs.map(({ share }) => share)).toEqual(
      needs.map(({ share }) => share).toSorted((a, b) => b - a),
    );
    expect(twice[0]!.need).toBeCloseTo(2 * needs[0]!.need);
    expect(needs.find(({ quota }) => quota === 'tableWrites')?.need).toBe(900);
    expect(countJobsAtLimit(1000, { quota: 'apiRequests', need: 1, limit: 4, share: 0.25 })).toBe(4000);
  });

  test('skipped captures need no tokens of the model', () => {
    const tokens = (skippedShare: number) =>
      computeNeeds({ ...load, skippedShare }, tick, transitions).find(
        ({ quota }) => quota === 'modelTokensPerMinute',
      )?.need;
    expect(tokens(0.75)).toBeCloseTo(tokens(0)! / 4);
  });

  test('the hottest key is that of a caller with many jobs, else that of a shard', () => {
    expect(findHottestKey(load, tick)).toMatchObject({
      name: 'TOTALS# METER',
      keys: 16,
      writesPerSecond: 12.5,
    });
    expect(findHottestKey({ ...load, jobsPerCaller: 1000 }, tick)).toMatchObject({
      name: 'CALLER# USE',
      keys: 1,
      writesPerSecond: 100,
    });
  });
});

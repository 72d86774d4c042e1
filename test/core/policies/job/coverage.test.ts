import { expect, test } from 'vitest';
import { rules } from '../../../../core/rules.ts';
import { computeCoverage } from '../../../../core/policies/job/coverage.ts';
import { recordOutcome } from '../../../../core/policies/job/record-outcome.ts';
import type { JobOutcome } from '../../../../core/policies/job/outcome.ts';
import { after, captured, captureFailed, looked, runningJob } from '../../../support/watching.ts';

/** Returns a job of an interval of 10 s after ticks at these seconds. */
function jobAfter(...ticks: [number, JobOutcome][]) {
  return ticks.reduce(
    (job, [seconds, outcome]) => ({ ...job, ...recordOutcome(job, outcome, after(seconds)) }),
    runningJob(),
  );
}

const seen = looked(false);
const unavailable: JobOutcome = { kind: 'unavailable', message: 'No process is free' };

test('coverage is complete while ticks are on time', () => {
  const job = jobAfter([10, seen], [20, seen]);
  expect(computeCoverage(job, after(25))).toEqual({
    ratio: 1,
    watched_seconds: 25,
    gap_seconds: 0,
    gaps: [],
  });
});

test('coverage counts a gap from the last observation of the stream, also while the gap is open', () => {
  const job = jobAfter([10, seen], [15, captureFailed]);
  expect(computeCoverage(job, after(40))).toMatchObject({
    ratio: 0.25,
    watched_seconds: 10,
    gap_seconds: 30,
  });
});

test('coverage counts the downtime of the service as a gap', () => {
  const { sight } = jobAfter([10, seen], [110, seen]);
  expect(sight.gaps).toEqual([
    { from: after(10).toISOString(), to: after(110).toISOString(), reason: 'service' },
  ]);
});

test('the coverage of an ended job does not change, also if the clock is set back', () => {
  const job = { ...jobAfter([10, seen]), ended_at: after(12).toISOString() };
  for (const seconds of [5000, 5, -3600])
    expect(computeCoverage(job, after(seconds))).toEqual(computeCoverage(job, after(12)));
});

test('a job that ends before its first picture has watched nothing', () => {
  const job = { ...runningJob(), ended_at: after(20).toISOString() };
  const gap = { from: after(0).toISOString(), to: after(20).toISOString(), reason: 'service' };
  expect(computeCoverage(job, after(30))).toEqual({
    ratio: 0,
    watched_seconds: 0,
    gap_seconds: 20,
    gaps: [gap],
  });
});

test('coverage keeps the newest gaps and the sum of all gaps', () => {
  const ticks = Array.from({ length: 60 }, (_, index): [number, JobOutcome] => [
    5 * (index + 1),
    index % 2 === 0 ? captureFailed : seen,
  ]);
  const { sight } = jobAfter(...ticks);
  expect(sight.gaps).toHaveLength(rules.maxCoverageGaps);
  expect(sight.gap_seconds).toBe(300);
});

test('a check that finds the stream lost ends a gap of the service', () => {
  const { sight } = jobAfter(
    [10, seen],
    [110, unavailable],
    [120, unavailable],
    [130, captureFailed],
    [140, seen],
  );
  expect(sight.gaps.map(({ from, to, reason }) => [from, to, reason])).toEqual([
    [after(10).toISOString(), after(120).toISOString(), 'service'],
    [after(120).toISOString(), after(140).toISOString(), 'stream'],
  ]);
});

test('a gap over several ticks is one gap, with its first reason', () => {
  const stale: JobOutcome = { kind: 'stale', captured: captured() };
  const { sight } = jobAfter([10, seen], [20, captureFailed], [30, stale], [40, seen], [50, captureFailed]);
  expect(sight.gaps).toEqual([
    { from: after(10).toISOString(), to: after(40).toISOString(), reason: 'stream' },
    { from: after(40).toISOString(), to: after(50).toISOString(), reason: 'stream' },
  ]);
});

test('the coverage of a job that never started is 0 seconds', () => {
  expect(computeCoverage(runningJob({}, { started_at: null }), after(9)).ratio).toBe(0);
});

import { describe, expect, test } from 'vitest';
import { computeCoverage, recordUnwatched, recordWatched } from '../../../core/tick/coverage.ts';
import { rules } from '../../../core/rules.ts';
import { after, runningJob } from '../../support/watching.ts';

const watch = runningJob().sight;

describe('coverage', () => {
  test('coverage is complete while ticks are on time', () => {
    const job = runningJob({}, { sight: recordWatched(recordWatched(watch, 10, after(10)), 10, after(20)) });
    expect(computeCoverage(job, after(25))).toEqual({
      ratio: 1,
      watched_seconds: 25,
      gap_seconds: 0,
      gaps: [],
    });
  });

  test('coverage counts a gap from the last observation of the stream, also while the gap is open', () => {
    const job = runningJob({}, { sight: recordUnwatched(recordWatched(watch, 10, after(10)), 'stream') });
    expect(computeCoverage(job, after(40))).toMatchObject({
      ratio: 0.25,
      watched_seconds: 10,
      gap_seconds: 30,
    });
  });

  test('coverage counts the downtime of the service as a gap', () => {
    const back = recordWatched(recordWatched(watch, 10, after(10)), 10, after(110));
    expect(back.gaps).toEqual([
      { from: after(10).toISOString(), to: after(110).toISOString(), reason: 'service' },
    ]);
  });

  test('the coverage of an ended job does not change', () => {
    const job = runningJob(
      {},
      { sight: recordWatched(watch, 10, after(10)), ended_at: after(12).toISOString() },
    );
    expect(computeCoverage(job, after(5000))).toEqual(computeCoverage(job, after(12)));
  });

  test('coverage keeps the newest gaps and the sum of all gaps', () => {
    let state = watch;
    for (let index = 1; index <= 30; index += 1)
      state = recordWatched(recordUnwatched(state, 'stream'), 10, after(index * 10));
    expect(state.gaps).toHaveLength(rules.maxCoverageGaps);
    expect(state.gap_seconds).toBe(300);
  });

  test('the coverage of a job that never started is 0 seconds', () => {
    expect(computeCoverage(runningJob({}, { started_at: null }), after(9)).ratio).toBe(0);
  });
});

import { describe, expect, test } from 'vitest';
import { initialDestinationState } from '../../../../core/delivery/destination-state.ts';
import { initialSight } from '../../../../core/records/sight.ts';
import type { WatchRun } from '../../../../core/records/run.ts';
import type { WatchStatus } from '../../../../core/records/watch-state.ts';
import { failingModel } from '../../../support/trouble.ts';
import { decideHealth } from '../../../../core/policies/watch/health.ts';
import { countWatches } from '../../../../core/observability/metrics.ts';
import { initialWatchState } from '../../../../core/policies/watch/initial-state.ts';
import { destination, watchId } from '../../../support/watches/watch-records.ts';

const now = new Date('2026-03-01T12:00:00.000Z');
const ago = (seconds: number) => new Date(now.getTime() - seconds * 1000).toISOString();
const fine = { late_since: null, failing: [] };
const signs = { plannedAt: ago(5), stretch: 1, destinations: [] };
const config = { destinations: [destination], conditions: [] };

describe('health of a watch', () => {
  test('lateness has a begin at five minutes and an end below half of it', () => {
    const decide = (before: typeof fine | { late_since: string; failing: [] }, seconds: number) =>
      decideHealth(before, config, { ...signs, plannedAt: ago(seconds) }, now);
    expect(decide(fine, 300).news).toEqual([]);
    expect(decide(fine, 301).news).toEqual([{ reason: 'checks_late', late_seconds: 301 }]);
    const late = { late_since: ago(900), failing: [] as [] };
    expect(decide(late, 200)).toEqual({ health: late, news: [] });
    expect(decide(late, 150)).toEqual({ health: fine, news: [{ reason: 'checks_in_time' }] });
  });

  test('an overload that doubles the interval makes checks late', () => {
    const { health, news } = decideHealth(fine, config, { ...signs, stretch: 2 }, now);
    expect(health.late_since).toBe(ago(5));
    expect(news).toEqual([{ reason: 'checks_late', late_seconds: 5 }]);
  });

  test('a first check and a clock that was set back are not late', () => {
    expect(decideHealth(fine, config, { ...signs, plannedAt: null }, now).news).toEqual([]);
    expect(decideHealth(fine, config, { ...signs, plannedAt: ago(-7200) }, now).news).toEqual([]);
  });

  test('the failure of a destination ends with its removal, which the others receive, and its error is short', () => {
    const reason = 'x'.repeat(500);
    const state = {
      ...initialDestinationState({ ...destination, run: 'watch', run_id: watchId }),
      disabled: { at: ago(60), reason },
    };
    const failing = decideHealth(fine, config, { ...signs, destinations: [state] }, now);
    expect(failing.health.failing).toEqual([
      { destination_id: 'team', since: ago(60), error: 'x'.repeat(80) },
    ]);
    const removed = decideHealth(
      failing.health,
      { destinations: [], conditions: [] },
      { ...signs, destinations: [state] },
      now,
    );
    const news = [{ reason: 'destination_recovered', destination_id: 'team', ended_by: 'changed' }];
    expect(removed).toEqual({ health: fine, news });
  });
});

test('watches are counted by status, and those with an overdue check as late', () => {
  const state = initialWatchState(['person'], now);
  const next = { done: false, judged: false, closing: false, resolve_again: false, confirming: false };
  const run = (status: WatchStatus, fields: Partial<WatchRun> = {}) => ({
    status,
    state,
    sight: initialSight,
    next: null,
    ...fields,
  });
  const runs = [
    run('active', { next: { ...next, wait_until: ago(301) } }),
    run('active', { next: { ...next, wait_until: ago(299) } }),
    run('off_schedule', { next: { ...next, wait_until: ago(-86_400) } }),
    run('stream_lost', { state: { ...state, health: { late_since: ago(900), failing: [] } } }),
    run('budget_exhausted', { sight: { ...initialSight, model_trouble: failingModel(4) } }),
    run('active', { sight: { ...initialSight, model_trouble: failingModel(5) } }),
  ];
  expect(countWatches(runs, now)).toEqual({
    active: 3,
    off_schedule: 1,
    budget_exhausted: 1,
    stream_lost: 1,
    late: 2,
    unjudged: 1,
    destinations_failing: 0,
  });
});

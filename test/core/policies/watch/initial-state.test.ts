import { expect, test } from 'vitest';
import { maxExplanationLength, watchStateSchema } from '../../../../core/records/watch-state.ts';
import type { WatchState } from '../../../../core/records/watch-state.ts';
import { initialWatchState } from '../../../../core/policies/watch/initial-state.ts';

const now = new Date('2026-03-01T12:00:00.000Z');
const at = now.toISOString();
const conditionIds = Array.from({ length: 8 }, (_, index) => `a-condition-with-a-long-id-${index}`);

test('a new watch knows nothing about its conditions and fits the schema', () => {
  const state = initialWatchState(conditionIds, now);
  expect(watchStateSchema.parse(state)).toEqual(state);
  expect(new Set(state.conditions.map(({ phase }) => phase))).toEqual(new Set(['unknown']));
});

test('eight open conditions with full histories and explanations stay below 8 kB', () => {
  const state: WatchState = initialWatchState(conditionIds, now);
  const full: WatchState = {
    ...state,
    conditions: state.conditions.map((condition) => ({
      ...condition,
      phase: 'open',
      history: '1'.repeat(10),
      checked_at: Array.from({ length: 10 }, () => now.getTime() / 1000),
      alert: {
        alert_id: '00000000-0000-4000-8000-000000000000',
        opened_at: at,
        seen_from: at,
        held_at: at,
        clear_from: null,
        reminded_at: at,
        acknowledged_at: at,
        unconfirmed: true,
        severity: 'warning' as const,
        retention_days: 7,
        explanation: 'x'.repeat(maxExplanationLength),
      },
      last_opened_at: at,
      snoozed_until: at,
      left_out: 3,
    })),
  };
  expect(watchStateSchema.parse(full)).toEqual(full);
  expect(JSON.stringify(full).length).toBeLessThan(8000);
});

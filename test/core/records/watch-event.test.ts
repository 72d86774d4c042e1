import { expect, test } from 'vitest';
import { watchEventSchema } from '../../../core/records/watch-event.ts';
import type { NewWatchEvent, WatchChangeReason, WatchEvent } from '../../../core/records/watch-event.ts';
import { watchCountsSchema, type AlertChange, type WatchCounts } from '../../../core/records/watch-state.ts';

const at = '2026-03-01T12:00:00.000Z';
const id = '00000000-0000-4000-8000-000000000000';

test('an event has the position and name of its watch beside its data', () => {
  const reason: WatchChangeReason = 'paused';
  const changed: NewWatchEvent = { type: 'watch_changed', data: { status: 'paused', reason } };
  const event: WatchEvent = {
    watch_id: id,
    watch_name: 'Gate',
    labels: [],
    sequence: 1,
    timestamp: at,
    ...changed,
  };
  expect(watchEventSchema.parse(event)).toEqual(event);
  expect(watchEventSchema.safeParse({ ...event, sequence: 0 }).success).toBe(false);
});

test('an explanation of more than 200 characters is not stored', () => {
  const close: AlertChange = {
    kind: 'close',
    alertId: id,
    closed: {
      at,
      reason: 'cleared',
      explanation: 'x'.repeat(201),
      open_seconds: 1,
      seen_seconds: 1,
      frame_key: null,
    },
    expiresAt: at,
  };
  const data = {
    alert_id: id,
    condition_id: 'a',
    condition: 'A person is in the yard',
    severity: 'warning',
    opened_at: at,
    closed_at: at,
    ...close.closed,
  };
  const event = { watch_id: id, watch_name: 'Gate', labels: [], sequence: 1, timestamp: at };
  expect(watchEventSchema.safeParse({ ...event, type: 'alert_closed', data }).success).toBe(false);
  const shorter = { ...data, explanation: 'x'.repeat(200) };
  expect(watchEventSchema.safeParse({ ...event, type: 'alert_closed', data: shorter }).success).toBe(true);
});

test('counts of a tick are whole numbers that only grow', () => {
  const counts: Partial<WatchCounts> = { ticks: -1 };
  expect(watchCountsSchema.partial().safeParse(counts).success).toBe(false);
});

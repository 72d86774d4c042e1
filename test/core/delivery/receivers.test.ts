import { describe, expect, test } from 'vitest';
import { defaultNotify, findPart, findSubject, isWanted } from '../../../core/delivery/receivers.ts';
import { destinationTypeSchema, notifySchema, type Destination } from '../../../core/records/watch.ts';
import { watchChangeReasonSchema } from '../../../core/records/watch-event.ts';
import type { NewWatchEvent, WatchChangeReason, WatchEvent } from '../../../core/records/watch-event.ts';
import { closed, first, opened, second } from '../../support/watches/delivery.ts';
import { destination, watchId } from '../../support/watches/watch-records.ts';

const at = '2026-03-01T12:00:00.000Z';
const alert = { ...readAlert(opened(first)) };
const reminder: NewWatchEvent = {
  type: 'alert_reminder',
  data: { ...alert, open_seconds: 60, explanation: 'A person.', frame_key: null },
};
const acknowledged: NewWatchEvent = { type: 'alert_acknowledged', data: { ...alert, by: 'alice' } };
const stream = { reason: 'unreachable' as const, lost_seconds: 60, open_alerts: [] };
const lost: NewWatchEvent = { type: 'stream_lost', data: stream };
const recovered: NewWatchEvent = { type: 'stream_recovered', data: stream };
const changed = (reason: WatchChangeReason): NewWatchEvent => ({
  type: 'watch_changed',
  data: { status: 'active', reason },
});

function readAlert({ type, data }: NewWatchEvent) {
  if (type !== 'alert_opened') throw new Error('no opening');
  const { alert_id, condition_id, condition, severity, opened_at } = data;
  return { alert_id, condition_id, condition, severity, opened_at };
}

/** Returns the events that a destination receives of a log, one letter for each other one. */
function receive(settings: Partial<Destination>, log: readonly NewWatchEvent[]): string[] {
  const receiver = { ...destination, min_severity: 'info' as const, ...settings };
  const notified: { subject: string; sequence: number }[] = [];
  return log.flatMap((event, index) => {
    const stored: WatchEvent = {
      ...event,
      watch_id: watchId,
      watch_name: 'Gate',
      labels: [],
      sequence: index + 1,
      timestamp: at,
    };
    if (!isWanted(receiver, stored, notified)) return [];
    if (findPart(stored) === 'opening')
      notified.push({ subject: findSubject(stored), sequence: stored.sequence });
    return [event.type === 'watch_changed' ? event.data.reason : event.type];
  });
}

const failures = [
  'budget_exhausted',
  'budget_renewed',
  'model_without_price',
  'checks_late',
  'checks_in_time',
  'destination_failed',
  'destination_recovered',
  'model_failed',
  'model_recovered',
  'view_changed',
  'view_restored',
] as const;

describe('the events of a destination', () => {
  test.each(destinationTypeSchema.options.filter((type) => type !== 'heartbeat'))(
    'each failure and its end reach %s, whatever it selects',
    (type) => {
      for (const notify of notifySchema.options)
        expect(receive({ type, notify }, failures.map(changed))).toEqual([...failures]);
    },
  );

  test('PagerDuty has alerts only, so that nothing counts as delivered that no receiver answers', () => {
    const all = watchChangeReasonSchema.options.map(changed);
    const received = receive({ type: 'pagerduty', notify: 'everything' }, all);
    expect(received.toSorted()).toEqual([...failures, 'resumed'].toSorted());
  });

  const visits = [opened(first), closed(first), opened(second), closed(second)];

  test.each([
    ['email', null, 2],
    ['slack', null, 2],
    ['pagerduty', null, 4],
    ['webhook', null, 4],
    ['email', 'openings', 2],
    ['email', 'openings_and_closings', 4],
    ['email', 'everything', 4],
  ] as const)('two visits make at %s with notify %s %i messages', (type, notify, count) => {
    expect(receive({ type, notify: notify ?? defaultNotify[type] }, visits)).toHaveLength(count);
  });

  test('a destination with openings receives the reminders of an opening that it received, and neither acknowledgement nor closing', () => {
    const log = [opened(first), reminder, acknowledged, closed(first)];
    expect(receive({ notify: 'openings' }, log)).toEqual(['alert_opened', 'alert_reminder']);
    expect(receive({ notify: 'openings_and_closings' }, log)).toHaveLength(4);
    const severe = { notify: 'everything', min_severity: 'critical' } as const;
    expect(receive(severe, log)).toEqual([]);
  });

  test.each(notifySchema.options)('failures of the watch and their ends arrive with %s', (notify) => {
    const log = [lost, recovered, ...failures.map(changed)];
    expect(receive({ notify, min_severity: 'critical' }, log)).toEqual([
      'stream_lost',
      'stream_recovered',
      ...failures,
    ]);
  });

  test('changes by hand, the schedule and warnings arrive with everything only', () => {
    const all = watchChangeReasonSchema.options;
    expect(receive({ notify: 'everything' }, all.map(changed))).toEqual(all);
    const told = receive({ notify: 'openings_and_closings' }, all.map(changed));
    expect(told.toSorted()).toEqual([...failures, 'unsure_sightings'].toSorted());
  });

  test('an end of a lost stream arrives only where its loss did', () => {
    expect(receive({ notify: 'everything' }, [recovered])).toEqual([]);
  });

  test('a broker receives each end and each change of the device, so that no retained state stays wrong', () => {
    const broker = { type: 'mqtt', notify: 'openings_and_closings', min_severity: 'critical' } as const;
    const log = [changed('created'), opened(first), closed(first), recovered, changed('paused')];
    expect(receive(broker, [...log, changed('changed'), changed('deleted')])).toEqual([
      'created',
      'alert_closed',
      'stream_recovered',
      'changed',
      'deleted',
    ]);
  });
});

test('each type but a heartbeat has a default of notify', () => {
  const without = destinationTypeSchema.options.filter((type) => defaultNotify[type] === null);
  expect(without).toEqual(['heartbeat']);
});

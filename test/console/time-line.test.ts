import { expect, test } from 'vitest';
import {
  findAlertAt,
  findClass,
  listSnoozedParts,
  toAlertBars,
  toBars,
  toLanes,
  toPaths,
  toSnoozeBars,
} from '../../console/timeline/lane-bars.ts';
import { dayOf, newestDay, zoomTo } from '../../console/timeline/time-window.ts';

const start = Date.parse('2026-03-01T12:00:00.000Z');
const hourMs = 3_600_000;
const at = (seconds: number) => new Date(start + seconds * 1000).toISOString();
const window = { startMs: start, lengthMs: 2 * hourMs };
/** Time of a watch that was created an hour before. */
const life = { fromMs: start - hourMs, toMs: start + 2 * hourMs };
const seconds = { judged_seconds: 900, quiet_seconds: 1800, between_seconds: 0, not_seen_seconds: 900 };
const hour = { hour: at(0), ...seconds, gaps: [{ from: at(60), to: at(960), reason: 'stream' as const }] };

test('an hour is a column that its classes share by their seconds, which do not fill an hour in part active', () => {
  expect(toBars([hour], window, life)).toEqual([
    { kind: 'judged', x: 0, width: 0.5, y: 0.75, height: 0.25 },
    { kind: 'quiet', x: 0, width: 0.5, y: 0.25, height: 0.5 },
    { kind: 'not_seen', x: 0, width: 0.5, y: 0, height: 0.25 },
  ]);
  const first = { ...hour, judged_seconds: 0, quiet_seconds: 900, not_seen_seconds: 0, gaps: [] };
  expect(toBars([first], window, life)).toEqual([{ kind: 'quiet', x: 0, width: 0.5, y: 0.75, height: 0.25 }]);
});

test('an hour with spans has them in their places, cut at the window', () => {
  const spans = [
    { from: at(0), to: at(1800), class: 'quiet' as const },
    { from: at(3000), to: at(3600), class: 'judged' as const },
  ];
  const half = { startMs: start + 900_000, lengthMs: 1_800_000 };
  expect(toBars([{ ...hour, spans }], half, life)).toEqual([
    { kind: 'quiet', x: 0, width: 0.5, y: 0, height: 1 },
  ]);
});

test('a time has the class of its span, its gap, or most of its hour, and none while the watch is not active', () => {
  expect(findClass([hour], start + 120_000, life)).toEqual({ kind: 'not_seen', isOfHour: false });
  expect(findClass([hour], start + 2_000_000, life)).toEqual({ kind: 'quiet', isOfHour: true });
  expect(findClass([hour], start + hourMs, life)).toBeUndefined();
  const spans = [{ from: at(1200), to: at(1800), class: 'judged' as const }];
  expect(findClass([{ ...hour, spans }], start + 1_300_000, life)).toEqual({
    kind: 'judged',
    isOfHour: false,
  });
  expect(findClass([{ ...hour, spans }], start + 1_900_000, life)).toBeUndefined();
});

test('nothing is said of the time before the watch existed, nor of the time to come', () => {
  const short = { fromMs: start + 1_800_000, toMs: start + 2_700_000 };
  const begun = { ...hour, judged_seconds: 0, quiet_seconds: 900, not_seen_seconds: 0, gaps: [] };
  expect(toBars([begun], window, short)).toEqual([{ kind: 'quiet', x: 0.25, width: 0.125, y: 0, height: 1 }]);
  for (const ms of [1_000_000, 3_000_000]) expect(findClass([begun], start + ms, short)).toBeUndefined();
  const open = [{ opened_at: at(2000), closed: null }];
  expect(findAlertAt(open, short.toMs, 5_000, short.toMs)).toBe(open[0]);
  expect(findAlertAt(open, short.toMs + 6_000, 5_000, short.toMs)).toBeUndefined();
});

test('a snooze is shown with the pictures in which its condition held meanwhile', () => {
  const snoozes = [
    { from: at(-720), to: at(-10) },
    { from: at(720), to: at(1440) },
    { from: at(6480), to: at(9000) },
  ];
  const conditions = [
    { condition_id: 'person', snoozes },
    { condition_id: 'car', snoozes: [] },
  ];
  const watch = { watch_id: 'gate', state: { conditions } } as never;
  expect(listSnoozedParts(watch, { from: at(0), to: at(7200) })).toEqual([
    { watch_id: 'gate', condition_id: 'person', from: at(720), to: at(1440) },
    { watch_id: 'gate', condition_id: 'person', from: at(6480), to: at(7200) },
  ]);
  const unannounced = [{ at: at(900) }] as never;
  expect(toSnoozeBars({ watch, unannounced }, window)).toEqual([
    { kind: 'snoozed', x: 0.1, width: 0.1, y: 0.88, height: 0.12 },
    { kind: 'snoozed', x: 0.9, width: 0.1, y: 0.88, height: 0.12 },
    { kind: 'unannounced', x: 0.125, width: 0.003, y: 0, height: 0.45 },
  ]);
});

const closed = (seconds: number) => ({ at: at(seconds) }) as never;

test('an alert has its times, an open one until now, and a short one can be seen', () => {
  const alerts = [
    { opened_at: at(-600), closed: closed(720) },
    { opened_at: at(3600), closed: null },
    { opened_at: at(10), closed: closed(11) },
    { opened_at: at(8000), closed: closed(8010) },
  ];
  expect(toAlertBars(alerts, window, start + 2 * hourMs - 720_000)).toEqual([
    { x: 0, width: 0.1 },
    { x: 0.5, width: 0.4 },
    { x: 10 / 7200, width: 0.003 },
  ]);
  expect(findAlertAt(alerts, start + 15_000, 5_000, life.toMs)).toBe(alerts[0]);
  expect(findAlertAt(alerts.slice(2), start + 15_000, 5_000, life.toMs)).toBe(alerts[2]);
  expect(findAlertAt(alerts.slice(2), start + 60_000, 5_000, life.toMs)).toBeUndefined();
});

test('a lane is drawn as one path for each class and one for its alerts, which lie above', () => {
  const bars = [0, 0.5].map((x) => ({ kind: 'quiet' as const, x, width: 0.5, y: 0.25, height: 0.5 }));
  expect(toPaths(bars, [{ x: 0.5, width: 0.25 }])).toEqual([
    { kind: 'quiet', d: 'M0 0.25h0.5v0.5h-0.5zM0.5 0.25h0.5v0.5h-0.5z' },
    { kind: 'open', d: 'M0.5 0h0.25v0.45h-0.25z' },
  ]);
});

test('a window begins at whole hours, zooms around a time, and a day is that of the browser', () => {
  const now = start + 1_234_567;
  expect(newestDay(now)).toEqual({ startMs: start - 23 * hourMs, lengthMs: 24 * hourMs });
  expect(zoomTo('hour', now, now)).toEqual({ startMs: start, lengthMs: hourMs });
  expect(zoomTo('minutes', now, now)).toEqual({ startMs: start + 1_200_000, lengthMs: 600_000 });
  expect(zoomTo('day', now, now)).toEqual(newestDay(now));
  expect(zoomTo('day', start - 48 * hourMs, now).startMs).toBe(start - 60 * hourMs);
  expect(new Date(dayOf('2026-03-02').startMs).getHours()).toBe(0);
});

test('a lane that cannot be read is empty and named, and a note names alerts that are left out', () => {
  const watches = [
    { watch_id: 'a', name: 'Gate' },
    { watch_id: 'b', name: 'Yard' },
  ] as never;
  const failed = { status: 'rejected' as const, reason: new Error('down') };
  const read = { status: 'fulfilled' as const, value: { hours: [hour] } as never };
  const alert = { watch_id: 'b' } as never;
  expect(
    toLanes(watches, [failed, read], { alerts: [alert], isCut: true }, { moments: [], isCut: true }),
  ).toEqual({
    lanes: [
      { watch: watches[0], hours: [], alerts: [], unannounced: [] },
      { watch: watches[1], hours: [hour], alerts: [alert], unannounced: [] },
    ],
    notes: [
      'Not read, try again: Gate.',
      'Not all of what was seen while snoozed is shown.',
      'Only the newest 1 alerts of this time are shown.',
    ],
  });
  const none = [
    { alerts: [], isCut: false },
    { moments: [], isCut: false },
  ] as const;
  expect(toLanes(watches, [read, read], ...none).notes).toEqual([]);
  expect(() => toLanes(watches, [failed, failed], ...none)).toThrow('down');
});

import { expect, test } from 'vitest';
import type { Schedule } from '../../../../core/records/watch.ts';
import { localDay, scheduleAt } from '../../../../core/policies/watch/schedule.ts';

const everyDay: Schedule['active'][number]['days'] = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'];

function schedule(
  ...spans: [from: string, to: string, days?: Schedule['active'][number]['days']][]
): Schedule {
  const active = spans.map(([from, to, days]) => ({ days: days ?? everyDay, from, to }));
  return { time_zone: 'Europe/Berlin', active };
}

test('a local time that does not exist is the first instant after the gap', () => {
  const nights = schedule(['02:30', '04:00', ['sun']]);
  // 2026-03-29: the clock goes from 02:00 to 03:00 at 01:00Z.
  const before = scheduleAt(nights, new Date('2026-03-29T00:59:59Z'));
  expect(before).toMatchObject({ active: false, until: new Date('2026-03-29T01:00:00Z') });
  const after = scheduleAt(nights, new Date('2026-03-29T01:00:00Z'));
  expect(after).toMatchObject({ active: true, until: new Date('2026-03-29T02:00:00Z') });
});

test('a span begins with the first of a repeated local time and ends with the last', () => {
  // 2026-10-25: the clock goes from 03:00 to 02:00 at 01:00Z.
  const hour = schedule(['02:15', '02:45', ['sun']]);
  const within = scheduleAt(hour, new Date('2026-10-25T01:10:00Z'));
  expect(scheduleAt(hour, new Date('2026-10-25T00:14:59Z')).until).toEqual(new Date('2026-10-25T00:15:00Z'));
  expect(within).toMatchObject({ active: true, until: new Date('2026-10-25T01:45:00Z') });
});

test('a span that crosses midnight belongs to the day of its begin', () => {
  const friday = schedule(['22:00', '06:00', ['fri']]);
  const saturdayNight = new Date('2026-06-06T02:00:00Z');
  expect(scheduleAt(friday, saturdayNight)).toMatchObject({
    active: true,
    until: new Date('2026-06-06T04:00:00Z'),
  });
  expect(scheduleAt(friday, new Date('2026-06-05T02:00:00Z')).active).toBe(false);
});

test('adjacent spans merge, and whole days have no boundary', () => {
  const halves = schedule(['08:00', '12:00'], ['12:00', '18:00']);
  expect(scheduleAt(halves, new Date('2026-06-06T08:00:00Z')).until).toEqual(
    new Date('2026-06-06T16:00:00Z'),
  );
  expect(scheduleAt(schedule(['00:00', '24:00']), new Date('2026-06-06T08:00:00Z'))).toMatchObject({
    active: true,
    until: null,
  });
});

test('the day of a budget has 23 hours when daylight saving begins', () => {
  const day = localDay('Europe/Berlin', new Date('2026-03-29T10:00:00Z'));
  expect(day).toMatchObject({ date: '2026-03-29', end: new Date('2026-03-29T22:00:00Z') });
});

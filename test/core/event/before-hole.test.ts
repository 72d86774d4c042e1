import { expect, test } from 'vitest';
import { eventsBeforeHole } from '../../../core/event/tail-events.ts';
import { addSeconds } from '../../../core/time.ts';

const now = new Date('2026-11-26T12:00:00Z');

test.each([
  ['5 s old is awaited', -5, [1]],
  ['31 s old stays', -31, [1, 4]],
  ['10 s ahead, by the clock of another writer, is awaited', 10, [1]],
  ['an hour ahead, from before the clock was set back, stays', 3600, [1, 4]],
] as const)('a hole before an event that is %s', (_, seconds, read) => {
  const event = (sequence: number, at: Date) => ({ sequence, timestamp: at.toISOString() });
  const events = [event(1, now), event(4, addSeconds(now, seconds))];
  expect(eventsBeforeHole(events, 0, now).map(({ sequence }) => sequence)).toEqual(read);
});

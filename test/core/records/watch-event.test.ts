import { expect, test } from 'vitest';
import {
  assignWatchSequences,
  newWatchEventSchema,
  watchEventSchema,
  type NewWatchEvent,
} from '../../../core/records/watch-event.ts';
import { watchEventTypeSchema } from '../../../core/records/watch-event-type.ts';
import { events, watchId } from '../../support/watch-records.ts';

test('each type of event that a destination can choose has a schema', () => {
  const types = newWatchEventSchema.options.map(({ shape }) => shape.type.value);
  expect(types).toEqual(watchEventTypeSchema.options);
});

test('events of one commit are numbered after the newest event of the log', () => {
  const created: NewWatchEvent[] = Object.values(events);
  const stored = assignWatchSequences(created, watchId, 4, new Date('2026-03-01T12:00:00Z'));
  expect(stored.map(({ sequence }) => sequence)).toEqual(created.map((_, index) => 5 + index));
  expect(stored.map((event) => watchEventSchema.parse(event))).toEqual(stored);
});

import { expect, test } from 'vitest';
import { findClipBegin } from '../../../../core/policies/watch/clip-begin.ts';
import { addSeconds } from '../../../../core/time.ts';

test.each([
  ['its visit begins with the opening', 0, 8, -8],
  ['its visit has begun 7.5 s before', -7.5, 8, -8.5],
  ['its visit has begun 29 s before', -29, 8, -30],
  ['its visit has begun 29.1 s before', -29.1, 8, -30],
  ['it has held for an hour', -3600, 8, -30],
  ['it has held for an hour, with 30 s before', -3600, 30, -30],
  ['its visit has begun at most 1 s before', -1, 1, -2],
  ['it has nothing before the opening', -5, 0, 0],
])('a clip begins before its visit, but at most 30 s before the opening: %s', (_, seen, before, begin) => {
  const openedAt = new Date('2026-03-01T12:00:00.000Z');
  const times = {
    opened_at: openedAt.toISOString(),
    seen_from: addSeconds(openedAt, seen).toISOString(),
  };
  expect(findClipBegin(times, before)).toEqual(addSeconds(openedAt, begin));
});

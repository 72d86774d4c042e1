import { expect, test } from 'vitest';
import type { Segment } from '../../../../../adapters/media/hls/playlist/playlist.ts';
import { captureTime } from '../../../../../adapters/media/hls/segments/stream-position.ts';
import { newSegment } from '../../../../support/hls/new-segment.ts';

const now = new Date('2026-11-20T12:00:00Z');

function newest(startsAt: string | null): Segment {
  return newSegment({ durationSeconds: 4, startsAt: startsAt === null ? null : new Date(startsAt) });
}

test('a frame is dated by the start of its segment, a clip by the end', () => {
  expect(captureTime(newest('2026-11-20T11:59:50Z'), 'frames', now)).toEqual(
    new Date('2026-11-20T11:59:50Z'),
  );
  expect(captureTime(newest('2026-11-20T11:59:50Z'), 'clip', now)).toEqual(new Date('2026-11-20T11:59:54Z'));
});

test.each([
  null,
  '1970-01-01T00:00:00Z',
  '2026-11-19T11:00:00Z',
  '2026-11-20T12:00:01Z',
  '2026-11-22T00:00:00Z',
])('a program date-time of %s is ignored', (startsAt) => {
  expect(captureTime(newest(startsAt), 'frames', now)).toBe(now);
});

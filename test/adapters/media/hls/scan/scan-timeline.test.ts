import { expect, test } from 'vitest';
import { type MediaPlaylist } from '../../../../../adapters/media/hls/playlist/playlist.ts';
import { parsePlaylist } from '../../../../support/hls/parse-playlist.ts';
import { findSegmentAt, segmentStarts } from '../../../../../adapters/media/hls/scan/scan-timeline.ts';
import { mediaPlaylist } from '../../../../support/hls/watched-stream.ts';

function parse(lines: string[]): MediaPlaylist {
  const playlist = parsePlaylist(Buffer.from(mediaPlaylist(lines)), 'http://c.example/live.m3u8');
  if (playlist.kind !== 'media') throw new Error('Not a media playlist');
  return playlist;
}

const clock = (seconds: number) =>
  `#EXT-X-PROGRAM-DATE-TIME:${new Date(Date.UTC(2026, 10, 20) + seconds * 1000).toISOString()}`;
/** Two segments, a discontinuity after which the clock shows another time, and a last segment. */
const broken = (seconds: number) =>
  parse([clock(0), '0.ts', '1.ts', '#EXT-X-DISCONTINUITY', clock(seconds), '2.ts']);
const starts = (playlist: MediaPlaylist) => segmentStarts(playlist, { index: 2, startMs: 100_000 });

test('segments without a discontinuity follow each other by their durations', () => {
  expect(starts(parse(['0.ts', '1.ts', '2.ts', '3.ts']))).toEqual([96_000, 98_000, 100_000, 102_000]);
});

test('time without video at a discontinuity is that of the clock', () => {
  expect(starts(broken(34))).toEqual([66_000, 68_000, 100_000]);
});

test.each([-3600, 3600, 3])(
  'a clock that is another one after a discontinuity (%i s) counts for nothing',
  (seconds) => {
    expect(starts(broken(seconds))).toEqual([96_000, 98_000, 100_000]);
  },
);

test('a time falls into its segment, and before a discontinuity only with a clock', () => {
  const withClock = broken(4);
  expect(
    [96_500, 99_000, 101_900, 103_000].map((at) => findSegmentAt(withClock, starts(withClock), at)),
  ).toEqual([0, 1, 2, -1]);
  const without = parse(['0.ts', '1.ts', '#EXT-X-DISCONTINUITY', '2.ts']);
  expect([99_000, 101_000].map((at) => findSegmentAt(without, starts(without), at))).toEqual([-1, 2]);
});

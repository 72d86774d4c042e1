import { array, assert, constantFrom, integer, property, record } from 'fast-check';
import { describe, expect, test } from 'vitest';
import { keepNewestSegments } from '../../../../../adapters/media/hls/playlist/newest-segments.ts';
import { parsePlaylist, type Segment } from '../../../../../adapters/media/hls/playlist/playlist.ts';

const head = ['#EXTM3U', '#EXT-X-VERSION:7', '#EXT-X-TARGETDURATION:4', '#EXT-X-MEDIA-SEQUENCE:100'];

function listSegments(lines: string[]): Segment[] {
  const playlist = parsePlaylist(Buffer.from(lines.join('\n')), 'https://cdn.example/live/list.m3u8');
  if (playlist.kind !== 'media') throw new Error('No media playlist');
  return playlist.segments;
}

describe('newestLines', () => {
  test('a reduced playlist parses like the end of the whole one, with any tags', () => {
    const tag = constantFrom(
      '#EXT-X-KEY:METHOD=AES-128,URI="key?1"',
      '#EXT-X-KEY:METHOD=AES-128,URI="key?2",IV=0x000102030405060708090a0b0c0d0e0f',
      '#EXT-X-KEY:METHOD=NONE',
      '#EXT-X-MAP:URI="a.mp4"',
      '#EXT-X-MAP:URI="b.mp4",BYTERANGE="70@10"',
      '#EXT-X-DISCONTINUITY',
      '#EXT-X-PROGRAM-DATE-TIME:2026-11-20T12:00:00.500Z',
      '#EXT-X-GAP',
      '#EXT-X-BYTERANGE:100@50',
    );
    const segment = record({ tags: array(tag, { maxLength: 3 }), seconds: constantFrom('2', '3.9', '0') });
    assert(
      property(array(segment, { minLength: 1, maxLength: 30 }), integer({ min: 1, max: 30 }), (list, max) => {
        const lines = [
          ...head,
          ...list.flatMap(({ tags, seconds }) => [...tags, `#EXTINF:${seconds},`, 'all.ts']),
        ];
        expect(listSegments(keepNewestSegments(lines, max))).toEqual(listSegments(lines).slice(-max));
      }),
      { numRuns: 300 },
    );
  });

  test('a reduced playlist counts the segments that a delta update skips', () => {
    const lines = [
      ...head,
      '#EXT-X-SKIP:SKIPPED-SEGMENTS=7',
      ...['a', 'b', 'c'].flatMap((name) => ['#EXTINF:4,', name]),
    ];
    expect(listSegments(lines).map(({ sequence }) => sequence)).toEqual([107n, 108n, 109n]);
    expect(listSegments(keepNewestSegments(lines, 1)).map(({ sequence }) => sequence)).toEqual([109n]);
  });

  test('a reduced playlist keeps ENDLIST at any position', () => {
    const lines = [...head, '#EXT-X-ENDLIST', '#EXTINF:4,', 'a', '#EXTINF:4,', 'b'];
    expect(keepNewestSegments(lines, 1)).toContain('#EXT-X-ENDLIST');
  });
});

import { array, assert, constantFrom, integer, property, record } from 'fast-check';
import { describe, expect, test } from 'vitest';
import { keepNewestSegments } from '../../../../../adapters/media/hls/playlist/newest-segments.ts';
import { type Segment } from '../../../../../adapters/media/hls/playlist/playlist.ts';
import { sanitizePlaylist } from '../../../../../adapters/media/hls/playlist/sanitize-playlist.ts';
import { finishSteps } from '../../../../../adapters/steps.ts';
import { parsePlaylist } from '../../../../support/hls/parse-playlist.ts';

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

  test('a playlist that is read in parts is that which is read as a whole', () => {
    const tag = constantFrom(
      '#EXT-X-KEY:METHOD=AES-128,URI="key?1"',
      '#EXT-X-KEY:METHOD=SAMPLE-AES,URI="key?3",KEYFORMAT="com.apple"',
      '#EXT-X-KEY:METHOD=NONE',
      '#EXT-X-BYTERANGE:100',
      '#EXT-X-BYTERANGE:70@10',
      '#EXT-X-DEFINE:NAME="a",VALUE="b"',
      '#EXT-X-PROGRAM-DATE-TIME:2026-11-20T12:00:00.500Z',
      '#EXT-X-DISCONTINUITY',
      '#EXT-X-STREAM-INF:BANDWIDTH=1',
    );
    const segment = record({ tags: array(tag, { maxLength: 3 }), uri: constantFrom('all.ts', '{$a}.ts') });
    assert(
      property(
        array(segment, { minLength: 1, maxLength: 30 }),
        integer({ min: 1, max: 9 }),
        (list, linesOfPart) => {
          const lines = [...head, ...list.flatMap(({ tags, uri }) => [...tags, '#EXTINF:2,', uri])];
          const read = (linesOfOne: number) =>
            finishSteps(
              sanitizePlaylist(Buffer.from(lines.join('\n')), {
                url: 'https://cdn.example/live/list.m3u8',
                imported: new Map(),
                maxSegments: 8,
                linesOfPart: linesOfOne,
              }),
            );
          const [parts, whole] = [read(linesOfPart), read(1_000)];
          expect(parts?.variables).toEqual(whole?.variables);
          if (lines.some((line) => line.includes('STREAM-INF'))) return;
          const segments = (text: string) => listSegments(text.split('\n'));
          expect([segments(parts!.text), parts!.firstSequence]).toEqual([
            segments(whole!.text),
            whole!.firstSequence,
          ]);
        },
      ),
      { numRuns: 300 },
    );
  });

  test.each(['7', '"7"'])('a reduced playlist counts the segments that a delta update skips: %s', (count) => {
    const lines = [
      ...head,
      `#EXT-X-SKIP:SKIPPED-SEGMENTS=${count}`,
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

describe('what reaches the parser is reduced before', () => {
  const reduce = (text: string) => {
    const source = {
      url: 'https://cdn.example/live.m3u8',
      imported: new Map<string, string>(),
      maxSegments: 64,
    };
    const steps = sanitizePlaylist(new TextEncoder().encode(text), source);
    for (let count = 1; ; count += 1) {
      const { done, value } = steps.next();
      if (done) return { lines: value?.text.split('\n') ?? [], steps: count };
    }
  };

  test('a multivariant playlist has no lines of segments', () => {
    const segments = '#EXTINF:2,\ns.ts\n'.repeat(100_000);
    expect(reduce(`#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\nv.m3u8\n${segments}`).lines).toEqual([
      '#EXTM3U',
      '#EXT-X-STREAM-INF:BANDWIDTH=1',
      'v.m3u8',
    ]);
  });

  test.each(['VERSION:3', 'TARGETDURATION:2', 'PLAYLIST-TYPE:EVENT', 'ENDLIST'])(
    'one tag of a kind for the whole playlist remains (%s)',
    (tag) => {
      const text = `#EXTM3U\n${`#EXT-X-${tag}\n#EXTINF:2,\ns.ts\n`.repeat(1000)}`;
      expect(reduce(text).lines.length).toBeLessThan(64 * 4);
    },
  );

  test('many lines are read in steps', () => {
    expect(reduce(`#EXTM3U\n${'#EXTINF:2,\ns.ts\n'.repeat(120_000)}`).steps).toBeGreaterThan(12);
  });

  test.each(['#EXT-X-MAP:URI="m"', '#EXT-X-DISCONTINUITY', '#EXT-X-GAP', '#EXT-X-VERSION:3'])(
    'more than a hundred tags before a segment are refused (%s)',
    (tag) => {
      expect(() => reduce(`#EXTM3U\n${`${tag}\n`.repeat(101)}#EXTINF:2,\ns.ts\n`)).toThrow('too many lines');
    },
  );
});

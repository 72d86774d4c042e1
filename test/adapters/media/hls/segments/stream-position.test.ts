import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { parsePlaylist } from '../../../../support/hls/parse-playlist.ts';
import { streamPosition } from '../../../../../adapters/media/hls/segments/stream-position.ts';

test.each([
  ['2', 2],
  // Milliseconds by mistake.
  ['6000', 60],
])(
  'a target duration of %s s lets a playlist stand still for no more than %s s a segment',
  (target, seconds) => {
    const text = `#EXTM3U\n#EXT-X-TARGETDURATION:${target}\n#EXTINF:2,\na.ts\n`;
    const playlist = parsePlaylist(Buffer.from(text), 'https://cdn.example/live.m3u8');
    if (playlist.kind !== 'media') throw new Error('No media playlist');
    expect(streamPosition(playlist.segments[0]!, playlist).segment_seconds).toBe(seconds);
  },
);

describe('a stream position', () => {
  test.each([
    ['a query', 'all?n=1', 'all?n=2', 'all?n=3'],
    ['a byte range', '@0 all.ts', '@100 all.ts', '@200 all.ts'],
    ['a directory', '1/all.ts', '2/all.ts', '3/all.ts'],
    ['two query parameters together', 'all?h=1&s=8', 'all?h=1&s=9', 'all?h=2&s=8'],
    ['a file name', '1.ts', '2.ts', '3.ts'],
  ])(
    'a stream position changes with the newest segment if only %s tells segments apart',
    (_, first, second, third) => {
      expect(position([second, third])).not.toBe(position([first, second]));
      expect(position([first, second, third])).not.toBe(position([first, second]));
    },
  );

  test('a stream position changes with the media sequence number alone', () => {
    expect(position(['all.ts'], 8)).not.toBe(position(['all.ts'], 7));
  });

  test.each([
    ['of the query', (token: string) => [`1.ts?token=${token}`, `2.ts?token=${token}`]],
    ['of the path', (token: string) => [`${token}/1.ts`, `${token}/2.ts`]],
    ['of each segment', (token: string) => [`1.ts?token=${token}1`, `2.ts?token=${token}2`]],
    ['of segments with one file name', (token: string) => [`a?n=1&token=${token}`, `a?n=2&token=${token}`]],
    ['of each segment with one file name', (token: string) => [`a?n=1&sig=${token}1`, `a?n=2&sig=${token}2`]],
    ['of byte ranges', (token: string) => [`@0 a.ts?token=${token}`, `@100 a.ts?token=${token}`]],
    ['of directories', (token: string) => [`${token}/1/a.ts?t=${token}`, `${token}/2/a.ts?t=${token}`]],
    ['of a segment that is repeated', (token: string) => [`a.ts?t=${token}`, `a.ts?t=${token}`]],
  ])('a stream position stays if a token %s changes', (_, segments) => {
    expect(position(segments('xyz'))).toBe(position(segments('abc')));
  });

  test('a stream position equals that of earlier releases if file names differ between segments', () => {
    const hash = createHash('sha256').update('2.ts').digest('hex').slice(0, 12);
    expect(position(['live/1.ts?t=1', 'live/2.ts?t=1'], 7)).toBe(`8:${hash}`);
  });

  test('a stream position contains no part of the URL in clear text', () => {
    expect(position(['a?sig=secret1', 'a?sig=secret2'])).toMatch(/^8:[0-9a-f]{12}$/);
  });
});

/** Position of a playlist of these segments: `name`, or `@offset name` for a byte range of 100. */
function position(segments: string[], firstSequence = 7): string | null {
  const lines = segments.flatMap((segment) => {
    const [, offset, name] = /^(?:@(\d+) )?(.*)$/.exec(segment)!;
    return [...(offset === undefined ? [] : [`#EXT-X-BYTERANGE:100@${offset}`]), '#EXTINF:2,', name];
  });
  const head = ['#EXTM3U', '#EXT-X-TARGETDURATION:2', `#EXT-X-MEDIA-SEQUENCE:${firstSequence}`];
  const playlist = parsePlaylist(
    Buffer.from([...head, ...lines].join('\n')),
    'https://cdn.example/live.m3u8',
  );
  if (playlist.kind !== 'media') throw new Error('No media playlist');
  return streamPosition(playlist.segments.at(-1)!, playlist).segment;
}

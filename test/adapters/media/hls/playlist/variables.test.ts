import { expect, test } from 'vitest';
import { PlaylistError } from '../../../../../adapters/media/hls/playlist/playlist.ts';
import { PlaylistLimitError } from '../../../../../adapters/media/hls/playlist/playlist-budget.ts';
import { parsePlaylist } from '../../../../support/hls/parse-playlist.ts';

const url = 'https://cdn.example/live/list.m3u8?token=a%2Fb&x=1';

function parse(lines: string, imported?: ReadonlyMap<string, string>) {
  return parsePlaylist(Buffer.from(`#EXTM3U\n${lines}`), url, imported);
}

function segmentUrls(lines: string, imported?: ReadonlyMap<string, string>): string[] {
  const playlist = parse(`#EXT-X-TARGETDURATION:4\n${lines}`, imported);
  return playlist.kind === 'media' ? playlist.segments.map((segment) => segment.url) : [];
}

test('a variable is substituted in URLs, keys and media initialization sections', () => {
  const playlist = parse(
    '#EXT-X-TARGETDURATION:4\n#EXT-X-DEFINE:NAME="path",VALUE="a/b"\n#EXT-X-KEY:METHOD=AES-128,URI="{$path}/key"\n#EXT-X-MAP:URI="{$path}/init.mp4"\n#EXTINF:4,\n{$path}/1.m4s',
  );
  expect(playlist.kind === 'media' && playlist.segments[0]).toMatchObject({
    url: 'https://cdn.example/live/a/b/1.m4s',
    key: { url: 'https://cdn.example/live/a/b/key' },
    initialization: { url: 'https://cdn.example/live/a/b/init.mp4' },
  });
});

test('a variable may be a query parameter of the playlist URL, the only way to pass on its query', () => {
  expect(
    segmentUrls('#EXT-X-DEFINE:QUERYPARAM="token"\n#EXTINF:4,\na.ts?token={$token}\n#EXTINF:4,\nb.ts'),
  ).toEqual(['https://cdn.example/live/a.ts?token=a%2Fb', 'https://cdn.example/live/b.ts']);
});

test('a variable may be imported from the multivariant playlist', () => {
  const above = parse(
    '#EXT-X-DEFINE:NAME="host",VALUE="edge.example"\n#EXT-X-STREAM-INF:BANDWIDTH=1\n//{$host}/a.m3u8',
  );
  if (above.kind !== 'multivariant') throw new Error('No multivariant playlist');
  expect(above.variants[0]?.url).toBe('https://edge.example/a.m3u8');
  expect(segmentUrls('#EXT-X-DEFINE:IMPORT="host"\n#EXTINF:4,\n//{$host}/1.ts', above.variables)).toEqual([
    'https://edge.example/1.ts',
  ]);
});

test.each(['IMPORT="gone"', 'QUERYPARAM="gone"'])(
  'a variable without a value is an error (%s)',
  (definition) => {
    expect(() => segmentUrls(`#EXT-X-DEFINE:${definition}\n#EXTINF:4,\na.ts`)).toThrow(PlaylistError);
  },
);

test('a long query is read once; of several values the first counts', () => {
  const lines = '#EXT-X-DEFINE:QUERYPARAM="token"\n'.repeat(45);
  const url = `https://cdn.example/live/index.m3u8?token=1&token=2&${'a&'.repeat(100_000)}`;
  const text = `#EXTM3U\n${`${lines}#EXTINF:4,\n/{$token}.ts\n`.repeat(20)}`;
  const playlist = parsePlaylist(new TextEncoder().encode(text), url);
  expect(playlist.kind === 'media' && playlist.segments[0]?.url).toBe('https://cdn.example/1.ts');
});

test.each([
  '#EXT-X-STREAM-INF:BANDWIDTH=1\n{$a}{$a}',
  '#EXTINF:4,\n{$a}{$a}',
  '#EXT-X-MAP:URI="{$a}{$a}"\n#EXTINF:4,\na.ts',
  '#EXT-X-KEY:METHOD=AES-128,URI="{$a}{$a}"\n#EXTINF:4,\na.ts',
])('variables make no URL of any length (%s)', (lines) => {
  const define = `#EXT-X-DEFINE:NAME="a",VALUE="${'x'.repeat(20_000)}"`;
  expect(() => parse(`${define}\n${lines}`)).toThrow(
    expect.objectContaining({ cause: new PlaylistLimitError('long lines') }),
  );
});

test('variables cannot expand without limit', () => {
  const bomb = `#EXT-X-DEFINE:NAME="a",VALUE="${'x'.repeat(10_000)}"\n${'#EXTINF:4,\n{$a}\n'.repeat(20_000)}`;
  expect(() => segmentUrls(bomb)).toThrow(PlaylistError);
});

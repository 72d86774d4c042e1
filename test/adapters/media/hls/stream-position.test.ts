import { expect, it } from 'vitest';
import { parsePlaylist } from '../../../../adapters/media/hls/playlist.ts';
import { positionOf } from '../../../../adapters/media/hls/stream-position.ts';

it.each([
  ['2', 2],
  // Milliseconds by mistake.
  ['6000', 60],
])('a target duration of %s s gives a segment duration of at most %s s', (target, seconds) => {
  const text = `#EXTM3U\n#EXT-X-TARGETDURATION:${target}\n#EXTINF:2,\na.ts\n`;
  const playlist = parsePlaylist(Buffer.from(text), 'https://cdn.example/live.m3u8');
  if (playlist.kind !== 'media') throw new Error('No media playlist');
  expect(positionOf(playlist.segments[0]!, playlist).segment_seconds).toBe(seconds);
});

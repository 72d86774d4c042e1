import { afterEach, expect, test } from 'vitest';
import { readMoment } from '../../../support/hls/recording.ts';
import { mediaPlaylist, watchRecording, type WatchedStream } from '../../../support/hls/watched-stream.ts';

let stream: WatchedStream;
afterEach(() => stream.close());

test('a playlist is followed: each new segment is requested once, and that of the check before not at all', async () => {
  stream = await watchRecording({ '/live.m3u8': mediaPlaylist(['0.ts', '1.ts'], 0) });
  const { position } = await stream.capture('/live.m3u8');
  stream.requests.length = 0;
  const lists = [
    ['0.ts', '1.ts'],
    ['1.ts', '2.ts'],
    ['1.ts', '2.ts'],
    ['1.ts', '2.ts', '3.ts'],
  ];
  const waits: number[] = [];
  const moments: number[] = [];
  const ended = new AbortController();
  const show = () => {
    const listed = lists.shift();
    if (listed) stream.files['/live.m3u8'] = mediaPlaylist(listed, Number.parseInt(listed[0]!));
    else ended.abort();
  };
  show();
  const following = stream.follow('/live.m3u8', {
    after: position,
    onFrame: (thumbnail) => moments.push(Math.round(readMoment(thumbnail))),
    wait: async (milliseconds, signal) => {
      waits.push(milliseconds);
      show();
      signal.throwIfAborted();
    },
    signal: ended.signal,
  });
  await expect(following).rejects.toThrow('aborted');
  expect(stream.requests.filter((path) => path.endsWith('.ts'))).toEqual(['/2.ts', '/3.ts']);
  expect(moments).toEqual([4, 6]);
  expect(waits).toEqual([1000, 2000, 1000, 2000]);
});

test('a playlist that ends or fails is followed no more', async () => {
  stream = await watchRecording({
    '/live.m3u8': `${mediaPlaylist(['0.ts'], 0)}\n#EXT-X-ENDLIST\n`,
  });
  const options = { after: null, onFrame: () => undefined, signal: new AbortController().signal };
  await expect(stream.follow('/live.m3u8', options)).rejects.toThrow();
  await expect(stream.follow('/gone.m3u8', options)).rejects.toThrow('Failed to fetch stream');
});

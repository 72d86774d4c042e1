import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { afterEach, beforeAll, describe, expect, test } from 'vitest';
import { extractLastKeyFrame } from '../../../../adapters/media/mpeg-ts/extract-key-frames.ts';
import type { CaptureRequest } from '../../../../core/records/capture.ts';
import { InvalidUrlError, StreamEndedError, StreamFetchError } from '../../../../core/errors.ts';
import type { Served } from '../../../support/hls/file-server.ts';
import { record } from '../../../support/hls/recording.ts';
import {
  readFailure,
  mediaPlaylist,
  watchRecording,
  type WatchedStream,
} from '../../../support/hls/watched-stream.ts';

/** Decoded part of each segment for a frame. */
let segments: Buffer[];
let stream: WatchedStream;

beforeAll(async () => {
  segments = (await record()).segments.map((segment) => Buffer.from(extractLastKeyFrame(segment)!));
});
afterEach(() => stream.close());

async function serve(files: Record<string, Served>, options = { unseen: true }): Promise<void> {
  stream = await watchRecording(files, options);
}

const decoded = { unseen: false };

/** Returns the number of the newest captured segment. */
async function newest(path = live, more: Partial<CaptureRequest> = {}): Promise<number> {
  const { frame } = await stream.capture(path, more);
  return segments.findIndex((segment) => segment.equals(frame.subarray(-segment.length)));
}

const live = '/live.m3u8';
const position = async (): Promise<string | null> => (await stream.capture(live)).position.segment;

describe('HLS URL', () => {
  test('relative URLs are resolved against the target of a redirect', async () => {
    const to = (location: string): Served => ({ status: 302, headers: { location }, body: '' });
    await serve({
      '/go': to('/deep/path/master.m3u8?session=1'),
      '/deep/path/master.m3u8': '#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\nlow/live.m3u8',
      '/deep/path/low/live.m3u8': to('/elsewhere/live.m3u8'),
      '/elsewhere/live.m3u8': mediaPlaylist(['part/4.ts']),
      '/elsewhere/part/4.ts': to('/4.ts'),
    });
    expect(await newest('/go')).toBe(4);
    expect(stream.requests).toEqual([
      '/go',
      '/deep/path/master.m3u8?session=1',
      '/deep/path/low/live.m3u8',
      '/elsewhere/live.m3u8',
      '/elsewhere/part/4.ts',
      '/4.ts',
    ]);
  });

  test.each(['/live.m3u8?a=b.c&d', '/live', '/play.php?channel=1', '/live.m3u8;jsessionid=1', '/LIVE.M3U8'])(
    '%s is HLS because of its content, regardless of its suffix and content type',
    async (path) => {
      const [name = ''] = path.split('?');
      await serve({ [name]: { headers: { 'content-type': 'text/plain' }, body: mediaPlaylist(['4.ts']) } });
      await stream.capture(path);
      expect(stream.requests).toEqual([path, '/4.ts']);
    },
  );

  test('a signed URL appears in no error and no position', async () => {
    await serve({
      '/secret-path/live.m3u8': mediaPlaylist(['4.ts?sig=secret']),
      '/secret-path/4.ts': segments[4]!,
    });
    const { position: at } = await stream.capture('/secret-path/live.m3u8?sig=secret');
    expect(JSON.stringify(at)).not.toContain('secret');
    delete stream.files['/secret-path/4.ts'];
    const failure = await readFailure(stream.capture('/secret-path/live.m3u8?sig=secret'));
    expect(`${failure.message} ${failure.remediation} ${failure.stack}`).not.toContain('secret');
  });
});

describe('HLS response', () => {
  test.each([
    ['gzip', gzipSync],
    ['br', brotliCompressSync],
    ['deflate', deflateSync],
  ])('a response encoded with %s is decoded, for playlists and segments', async (encoding, encode) => {
    const headers = { 'content-encoding': encoding };
    await serve({
      [live]: { headers, body: encode(mediaPlaylist(['4.ts'])) },
      '/4.ts': { headers, body: encode(segments[4]!) },
    });
    expect(await newest()).toBe(4);
  });

  test('a playlist is read in every notation', async () => {
    const text = mediaPlaylist(['# a comment', '#EXT-X-NEW:X', '4.ts']).replace(
      '#EXT-X-VERSION:7',
      '#EXT-X-VERSION:99',
    );
    await serve({ [live]: `\ufeff${text.replaceAll('\n', ' \r\n\r\n')}` });
    expect(await newest()).toBe(4);
  });

  test('a slow response is awaited until its timeout', async () => {
    const slow = { pieces: 10, pauseMs: 30 };
    await serve({
      [live]: { ...slow, body: mediaPlaylist(['4.ts']) },
      '/4.ts': { ...slow, body: segments[4]! },
      '/endless.m3u8': { pieces: 1000, pauseMs: 30, body: mediaPlaylist(['4.ts']).padEnd(2000, '\n') },
    });
    expect(await newest()).toBe(4);
    expect((await readFailure(stream.capture('/endless.m3u8'))).remediation).toContain(
      'did not respond in time',
    );
  });
});

describe('live edge', () => {
  test.each([404, 403, 500])(
    'a newest segment with status %d is replaced by an older one',
    async (status) => {
      const gone = { [live]: mediaPlaylist(['3.ts', '4.ts', '5.ts']), '/5.ts': { status, body: '' } };
      await serve(gone);
      expect(await newest()).toBe(4);
    },
  );

  test('a missing newest segment is replaced by older ones in a clip', async () => {
    await serve({ [live]: mediaPlaylist(['3.ts', '4.ts', 'gone.ts']) }, decoded);
    expect(await stream.moment(live)).toBeCloseTo(8, 0);
    expect(await stream.moment(live, { mode: 'clip' })).toBeGreaterThan(9.5);
  });

  test('segments that have left the window are omitted', async () => {
    await serve({ [live]: mediaPlaylist(['gone.ts', '4.ts', '5.ts']) }, decoded);
    expect(await stream.moment(live, { mode: 'clip', clipSeconds: 6 })).toBeGreaterThan(11.5);
  });

  test('a playlist without any available segment causes few requests', async () => {
    await serve({ [live]: mediaPlaylist(['a.ts', 'b.ts', 'c.ts', 'd.ts', 'e.ts']) });
    expect((await readFailure(stream.capture(live))).remediation).toContain('status 404');
    expect(stream.requests).toEqual([live, '/e.ts', '/d.ts', '/c.ts']);
  });

  test('the live edge of a window of hours is found', async () => {
    const hours = Array.from({ length: 20_000 }, () => 'old.ts');
    await serve({
      [live]: mediaPlaylist(['#EXT-X-PROGRAM-DATE-TIME:2026-11-20T00:53:18Z', ...hours, '4.ts']),
    });
    const { capturedAt, frame, position: at } = await stream.capture(live);
    expect(frame).toEqual(segments[4]);
    expect(at.segment).toMatch(/^20000:/);
    expect(capturedAt.toISOString()).toBe('2026-11-20T11:59:58.000Z');
  });

  test('a playlist without segments asks to try again', async () => {
    await serve({ [live]: mediaPlaylist([]) });
    await expect(stream.probe(live)).resolves.toMatchObject({ platform: 'hls' });
    expect((await readFailure(stream.capture(live))).remediation).toContain('no segments yet');
    stream.files[live] = mediaPlaylist(['0.ts']);
    expect(await newest()).toBe(0);
  });
});

describe('HLS stream', () => {
  test('a stale stream keeps its position and then advances', async () => {
    await serve({ [live]: mediaPlaylist(['3.ts', '4.ts'], 3) });
    const before = await position();
    expect(await position()).toBe(before);
    stream.files[live] = mediaPlaylist(['4.ts', '5.ts'], 4);
    expect(await position()).not.toBe(before);
  });

  test('a stream whose encoder restarts its numbering continues and has not ended', async () => {
    await serve({ [live]: mediaPlaylist(['4.ts', '5.ts'], 9000) });
    const before = await position();
    stream.files[live] = mediaPlaylist(['0.ts'], 0);
    const after = await stream.capture(live);
    expect(after.frame).toEqual(segments[0]);
    expect(after.position.segment).not.toBe(before);
  });

  test('a stream whose encoder restarts at another URL continues there, although the old playlist has ended', async () => {
    const leadsTo = (path: string): string => `#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\n${path}`;
    await serve({ '/master.m3u8': leadsTo('old.m3u8'), '/old.m3u8': mediaPlaylist(['4.ts']) });
    await stream.capture('/master.m3u8');
    stream.files['/old.m3u8'] = mediaPlaylist(['4.ts', '#EXT-X-ENDLIST']);
    stream.files['/master.m3u8'] = leadsTo('new.m3u8');
    stream.files['/new.m3u8'] = mediaPlaylist(['0.ts']);
    expect(await newest('/master.m3u8')).toBe(0);
    stream.files['/new.m3u8'] = mediaPlaylist(['0.ts', '#EXT-X-ENDLIST']);
    expect(await readFailure(stream.capture('/master.m3u8'))).toBeInstanceOf(StreamEndedError);
  });

  test('a stream whose cached playlist is stale is resolved again', async () => {
    const leadsTo = (path: string): string => `#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\n${path}`;
    await serve({ '/master.m3u8': leadsTo('old.m3u8'), '/old.m3u8': mediaPlaylist(['4.ts']) });
    await stream.capture('/master.m3u8');
    await stream.capture('/master.m3u8');
    stream.files['/master.m3u8'] = leadsTo('new.m3u8');
    stream.files['/new.m3u8'] = mediaPlaylist(['0.ts']);
    expect(await newest('/master.m3u8')).toBe(0);
  });

  test('an EVENT stream is live until ENDLIST', async () => {
    const event = ['#EXT-X-PLAYLIST-TYPE:EVENT', '3.ts', '4.ts'];
    await serve({ [live]: mediaPlaylist(event) });
    await expect(stream.probe(live)).resolves.toMatchObject({ platform: 'hls' });
    expect(await newest()).toBe(4);
    stream.files[live] = mediaPlaylist([...event, '#EXT-X-ENDLIST']);
    expect(await readFailure(stream.capture(live))).toBeInstanceOf(StreamEndedError);
  });

  test.each([
    ['file:///etc/passwd', InvalidUrlError],
    ['data:video/mp2t;base64,AAAA', InvalidUrlError],
    ['missing.ts', StreamFetchError],
  ])('a segment at %s is rejected', async (segment, kind) => {
    await serve({ [live]: mediaPlaylist([segment]) });
    expect(await readFailure(stream.capture(live))).toBeInstanceOf(kind);
  });
});

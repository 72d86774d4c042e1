import { afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createEgressGuard } from '../../../../adapters/egress/guard.ts';
import { createGuardedHttp, type GuardedHttp } from '../../../../adapters/egress/guarded-http.ts';
import { createFfmpegRunner, type FfmpegRunner } from '../../../../adapters/media/ffmpeg/run-ffmpeg.ts';
import { createHlsCapturer, type HlsLimits } from '../../../../adapters/media/hls/capture-hls.ts';
import type { CaptureRequest } from '../../../../core/records/capture.ts';
import {
  InvalidUrlError,
  NotLiveError,
  StreamEndedError,
  StreamError,
  StreamFetchError,
} from '../../../../core/errors.ts';
import type { StreamCapturer } from '../../../../core/ports/stream-capturer.ts';
import { startHlsServer, type HlsServer } from '../../../support/hls/hls-server.ts';
import { ffmpegPath, readMoment, record, type Recording } from '../../../support/hls/recording.ts';
import { folderOfFile } from '../../../support/temporary-folder.ts';

const never = new AbortController().signal;
const now = new Date('2026-11-20T12:00:00Z');
const limits: Partial<HlsLimits> = { requestTimeoutMs: 1500 };
const tempDir = folderOfFile();
let ffmpeg: FfmpegRunner;
let recording: Recording;
let http: GuardedHttp;
let server: HlsServer;
let capturer: StreamCapturer;

beforeAll(async () => {
  recording = await record();
  ffmpeg = createFfmpegRunner({ ffmpegPath, tempDir });
});
beforeEach(async () => {
  await serve(recording);
});
afterEach(close);

async function serve(what: Recording): Promise<void> {
  http = createGuardedHttp(createEgressGuard({ allowRanges: ['127.0.0.0/8'] }));
  server = await startHlsServer(what);
  capturer = createHlsCapturer({
    http,
    ffmpeg,
    now: () => now,
    limits,
  });
}

async function close(): Promise<void> {
  await http.close();
  await server.close();
}

function capture(more: Partial<CaptureRequest> = {}, path = '/live.m3u8') {
  const request = {
    url: server.url(path),
    mode: 'frames' as const,
    clipSeconds: 3,
    caller: 'ada',
    resolveAgain: false,
  };
  return capturer.capture({ ...request, ...more }, never);
}

const probe = (path = '/live.m3u8') => capturer.probe(server.url(path), never, 'ada');

/** Requires that every stream failure is an error with a remediation. */
async function readFailure(promise: Promise<unknown>): Promise<StreamError> {
  const error = await promise.catch((error: unknown) => error);
  if (error instanceof StreamError) return error;
  throw new Error('Expected a stream error', { cause: error });
}

describe('HLS capture', () => {
  test('a capture shows the newest segment and advances with the stream', async () => {
    const first = await capture();
    server.newest = 5;
    const second = await capture();
    expect(readMoment(first.thumbnail)).toBeCloseTo(8, 0);
    expect(readMoment(second.thumbnail)).toBeCloseTo(10, 0);
    expect([first.position, second.position]).toEqual([
      { segment: expect.stringMatching(/^4:[0-9a-f]{12}:[0-9a-f]{8}$/), segment_seconds: 2 },
      { segment: expect.stringMatching(/^5:[0-9a-f]{12}:[0-9a-f]{8}$/), segment_seconds: 2 },
    ]);
  });

  test('a capture fetches one segment for a frame, and for a clip those that cover it', async () => {
    await capture();
    expect(server.requests).toEqual(['/live.m3u8', '/segments/4.ts?token=a']);
    server.requests.length = 0;
    const { clip, thumbnail } = await capture({ mode: 'clip' });
    expect(server.requests.toSorted()).toEqual([
      '/live.m3u8',
      '/segments/3.ts?token=a',
      '/segments/4.ts?token=a',
    ]);
    expect(clip?.length).toBeGreaterThan(1000);
    expect(readMoment(thumbnail)).toBeGreaterThan(9.5);
  });

  test('a capture keeps its position while the playlist is stale', async () => {
    const first = await capture();
    const second = await capture();
    expect(second.position).toEqual(first.position);
  });

  test('a capture of a restarted stream has a new position', async () => {
    server.newest = 6;
    const before = await capture();
    server.newest = 0;
    const after = await capture();
    expect(after.position.segment).toMatch(/^0:/);
    expect(after.position).not.toEqual(before.position);
  });

  test('a capture is dated by the program date-time, if present', async () => {
    expect((await capture()).capturedAt).toEqual(now);
    server.tags = (sequence) => (sequence === 4 ? ['#EXT-X-PROGRAM-DATE-TIME:2026-11-20T11:59:50.000Z'] : []);
    expect((await capture()).capturedAt).toEqual(new Date('2026-11-20T11:59:50Z'));
  });

  test('a capture of fMP4 starts with the media initialization section', async () => {
    await close();
    await serve(await record({ segmentType: 'fmp4', seconds: 10 }));
    const { thumbnail, clip } = await capture({ mode: 'hybrid' });
    expect(readMoment(thumbnail)).toBeGreaterThan(9.5);
    expect(clip).toBeDefined();
    expect(server.requests).toContain('/segments/init.mp4');
  });

  test('a capture decrypts segments, with the media sequence number as initialization vector', async () => {
    server.key = Buffer.from('0123456789abcdef');
    expect(readMoment((await capture({ mode: 'clip' })).thumbnail)).toBeGreaterThan(9.5);
    expect(server.requests.filter((path) => path === '/key')).toHaveLength(1);
  });

  test('a capture of encrypted fMP4 does not decrypt a plain media initialization section', async () => {
    await close();
    await serve(await record({ segmentType: 'fmp4', seconds: 10 }));
    server.key = Buffer.from('0123456789abcdef');
    expect(readMoment((await capture()).thumbnail)).toBeCloseTo(8, 0);
  });

  test.each([true, false])(
    'a capture of byte ranges fetches ranges (supported by the server: %s)',
    async (known) => {
      server.byteRanges = true;
      server.ignoresRanges = !known;
      const { thumbnail, position } = await capture();
      expect(readMoment(thumbnail)).toBeCloseTo(8, 0);
      expect(position.segment).toMatch(/^4:/);
      expect(server.requests[1]).toMatch(/^\/segments\/all.ts \d+-\d+$/);
    },
  );

  test('a capture adds older segments if the newest has no key frame, and caches their number', async () => {
    await close();
    await serve(await record({ keyFrameSeconds: 6, seconds: 12 }));
    expect(readMoment((await capture()).thumbnail)).toBeCloseTo(6, 0);
    server.requests.length = 0;
    await capture();
    expect(server.requests.filter((path) => path.includes('/4.ts'))).toHaveLength(1);
  });

  test('a capture does not join segments across a discontinuity', async () => {
    server.tags = (sequence) => (sequence === 4 ? ['#EXT-X-DISCONTINUITY'] : []);
    await capture({ mode: 'clip' });
    expect(server.requests).toEqual(['/live.m3u8', '/segments/4.ts?token=a']);
  });

  test('a capture reads compressed playlists', async () => {
    server.gzip = true;
    expect((await capture()).frame.length).toBeGreaterThan(100);
  });

  test('a capture follows redirects and resolves relative URLs against their target', async () => {
    server.answer = (path, answer) =>
      path.startsWith('/go/') ? { status: 302, headers: { location: '/live.m3u8' }, body: '' } : answer;
    expect((await capture({}, '/go/there')).position.segment).toMatch(/^4:/);
  });
});

describe('variant streams', () => {
  test('the variant stream depends on the mode and is cached', async () => {
    await capture({}, '/master.m3u8');
    await capture({}, '/master.m3u8');
    await capture({ mode: 'clip' }, '/master.m3u8');
    expect(server.requests.filter((path) => path.endsWith('.m3u8'))).toEqual([
      '/master.m3u8',
      '/middle.m3u8',
      '/middle.m3u8',
      '/master.m3u8',
      '/low.m3u8',
    ]);
  });

  test('the variant stream is selected again on request, and immediately if it fails', async () => {
    await capture({}, '/master.m3u8');
    server.requests.length = 0;
    await capture({ caller: 'ada', resolveAgain: true }, '/master.m3u8');
    expect(server.requests[0]).toBe('/master.m3u8');
    server.requests.length = 0;
    server.answer = (path, answer) => (path === '/middle.m3u8' ? { ...answer, status: 403 } : answer);
    await capture({}, '/master.m3u8');
    expect(server.requests.filter((path) => path.endsWith('.m3u8'))).toEqual([
      '/middle.m3u8',
      '/master.m3u8',
      '/middle.m3u8',
      '/high.m3u8',
    ]);
  });
});

describe('HLS probe', () => {
  test('a probe returns the live stream without credentials', async () => {
    const url = server.url('/live.m3u8').replace('http://', 'http://me:secret@');
    expect(await capturer.probe(url, never, 'ada')).toEqual({
      platform: 'hls',
      playbackUrl: server.url('/live.m3u8'),
    });
  });

  test('a probe accepts an EVENT playlist without ENDLIST, and a playlist without segments', async () => {
    server.editPlaylist = (text) => text.replace('#EXTM3U', '#EXTM3U\n#EXT-X-PLAYLIST-TYPE:EVENT');
    await expect(probe()).resolves.toMatchObject({ platform: 'hls' });
    server.editPlaylist = () => '#EXTM3U\n#EXT-X-TARGETDURATION:2';
    await expect(probe('/master.m3u8')).resolves.toMatchObject({ platform: 'hls' });
  });

  test.each([
    ['has ended', (text: string) => `${text}\n#EXT-X-ENDLIST`],
    ['is a recording', (text: string) => text.replace('#EXTM3U', '#EXTM3U\n#EXT-X-PLAYLIST-TYPE:VOD')],
  ])('a probe rejects a playlist that %s', async (_case, edit) => {
    server.editPlaylist = edit;
    const failure = await readFailure(probe('/master.m3u8'));
    expect(failure).toBeInstanceOf(NotLiveError);
    expect(failure.message).toBe('URL is not a live stream');
  });

  test.each([404, 410])('a probe reports status %i as offline', async (status) => {
    server.answer = (_path, answer) => ({ ...answer, status });
    const failure = await readFailure(probe());
    expect(failure).toMatchObject({ code: 'NOT_LIVESTREAM', message: 'Stream is offline' });
  });

  test.each([
    [401, /user name and password/],
    [403, /expired/],
    [429, /longer interval/],
    [503, /HTTP status 503/],
  ])('a probe returns a remediation for status %i', async (status, remediation) => {
    server.answer = (_path, answer) => ({ ...answer, status });
    const failure = await readFailure(probe());
    expect(failure).toMatchObject({ code: 'STREAM_FETCH_FAILED', message: 'Failed to fetch stream' });
    expect(failure.remediation).toMatch(remediation);
  });

  test.each([
    ['a web page', '<!DOCTYPE html><html>', InvalidUrlError],
    ['a DASH manifest', '<?xml version="1.0"?><MPD xmlns="x">', InvalidUrlError],
    ['is empty', '', StreamFetchError],
    ['something else', '{"error":"no"}', InvalidUrlError],
    ['a video file', '\0\0\0\x20ftypisom', NotLiveError],
    ['a damaged HLS playlist', '#EXTM3U\n#EXT-X-TARGETDURATION:2\n#EXTINF:2,\nhttp://[', InvalidUrlError],
  ])('a probe names the content that it finds instead of a playlist: %s', async (words, body, kind) => {
    server.answer = (_path, answer) => ({ ...answer, body });
    const failure = await readFailure(probe());
    expect(failure).toBeInstanceOf(kind);
    expect(failure.remediation).toContain(words);
  });

  test('an empty playlist is asked for again', async () => {
    let requests = 0;
    server.answer = (path, answer) =>
      path.endsWith('.m3u8') && (requests += 1) === 1 ? { ...answer, body: '' } : answer;
    await expect(probe()).resolves.toMatchObject({ platform: 'hls' });
  });

  test('a probe detects a large video file by its headers', async () => {
    for (const megabytes of [3, 9]) {
      const body = Buffer.alloc(megabytes * 1024 * 1024);
      server.answer = () => ({ status: 200, headers: { 'content-type': 'video/mp4' }, body });
      expect(await readFailure(probe())).toBeInstanceOf(NotLiveError);
    }
  });

  test('a probe rejects DRM', async () => {
    server.tags = () => [
      '#EXT-X-KEY:METHOD=SAMPLE-AES,URI="skd://a",KEYFORMAT="com.apple.streamingkeydelivery"',
    ];
    expect((await readFailure(probe())).remediation).toContain('DRM');
    expect((await readFailure(capture())).remediation).toContain('DRM');
  });
});

describe('failed HLS capture', () => {
  test.each(['ENDLIST', 'PLAYLIST-TYPE:VOD'])(
    'a capture with %s reports that the stream has ended',
    async (tag) => {
      await capture();
      server.editPlaylist = (text) => text.replace('#EXTM3U', `#EXTM3U\n#EXT-X-${tag}`);
      const failure = await readFailure(capture());
      expect(failure).toBeInstanceOf(StreamEndedError);
      expect(failure).toMatchObject({ code: 'NOT_LIVESTREAM', message: 'Stream has ended' });
    },
  );

  test('a capture of a missing playlist is a stream failure, not an end', async () => {
    server.answer = (_path, answer) => ({ ...answer, status: 404 });
    const failure = await readFailure(capture());
    expect(failure).toBeInstanceOf(StreamFetchError);
    expect(failure.message).toBe('Failed to fetch stream');
  });

  test.each([
    ['no segment', (text: string) => text.split('#EXTINF')[0] ?? ''],
    ['only gaps', (text: string) => text.replaceAll('#EXTINF', '#EXT-X-GAP\n#EXTINF')],
  ])('a capture of a playlist with %s asks to try again', async (_case, edit) => {
    server.editPlaylist = edit;
    expect((await readFailure(capture())).remediation).toContain('no segment');
  });

  test('a capture of a missing segment reports the status', async () => {
    server.answer = (path, answer) => (path.startsWith('/segments/') ? { ...answer, status: 404 } : answer);
    expect((await readFailure(capture())).remediation).toContain('HTTP status 404 for the segment');
  });

  test('a capture of a stalled segment ends at the request timeout', async () => {
    server.answer = (path, answer) =>
      path.startsWith('/segments/') ? { ...answer, delayMs: 60_000 } : answer;
    expect((await readFailure(capture())).remediation).toContain('did not respond in time');
  });

  test('a capture of a segment without video is reported as undecodable', async () => {
    server.answer = (path, answer) => (path.startsWith('/segments/') ? { ...answer, body: 'sorry' } : answer);
    expect((await readFailure(capture())).message).toBe('Failed to capture frame from stream');
    expect((await readFailure(capture({ mode: 'clip' }))).message).toBe(
      'Failed to capture video clip from stream',
    );
  });

  test('a capture with a wrong key is reported as undecryptable', async () => {
    server.key = Buffer.from('0123456789abcdef');
    server.answer = (path, answer) => (path === '/key' ? { ...answer, body: 'short' } : answer);
    expect((await readFailure(capture())).remediation).toContain('decrypted');
  });

  test('a capture of segments above the size limit is reported as too large', async () => {
    await http.close();
    http = createGuardedHttp(createEgressGuard({ allowRanges: ['127.0.0.0/8'] }));
    capturer = createHlsCapturer({ http, ffmpeg, now: () => now, limits: { captureBytes: 1000 } });
    expect((await readFailure(capture())).remediation).toContain('segment is too large');
  });

  test('a cancelled capture throws the abort reason', async () => {
    server.answer = (_path, answer) => ({ ...answer, delayMs: 60_000 });
    const cancelled = AbortSignal.timeout(30);
    const request = {
      url: server.url('/live.m3u8'),
      mode: 'frames' as const,
      clipSeconds: 3,
      caller: 'ada',
      resolveAgain: false,
    };
    await expect(capturer.capture(request, cancelled)).rejects.toMatchObject({ name: 'TimeoutError' });
  });
});

describe('forbidden address in HLS', () => {
  const inside = 'http://169.254.169.254/latest';

  test.each([
    ['of the playlist', (text: string) => text, inside],
    ['of a segment', (text: string) => text.replaceAll('segments/4.ts', `${inside}/4.ts`), undefined],
    [
      'of a key',
      (text: string) => text.replace('#EXTINF', `#EXT-X-KEY:METHOD=AES-128,URI="${inside}"\n#EXTINF`),
      undefined,
    ],
    [
      'of an init section',
      (text: string) => text.replace('#EXTINF', `#EXT-X-MAP:URI="${inside}"\n#EXTINF`),
      undefined,
    ],
    ['of a variant', () => `#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\n${inside}`, undefined],
  ])('a forbidden address %s is rejected', async (_case, edit, url) => {
    server.editPlaylist = edit;
    const failure = await readFailure(capture(url === undefined ? {} : { url }));
    expect(failure).toBeInstanceOf(InvalidUrlError);
    expect(failure.remediation).toContain('WATCHPOST_ALLOW_RANGES');
  });

  test.each([
    ['segment', 'file', (text: string) => text.replaceAll('segments/4.ts', 'file:///etc/passwd')],
    ['segment', 'data', (text: string) => text.replaceAll('segments/4.ts', 'data:video/mp2t;base64,AA==')],
    [
      'key',
      'data',
      (text: string) =>
        text.replace('#EXTINF', '#EXT-X-KEY:METHOD=AES-128,URI="data:text/plain;base64,AA=="\n#EXTINF'),
    ],
    ['playlist', 'ftp', () => '#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\nftp://cam.example/live.m3u8'],
  ])('a %s with the scheme %s is refused by the name of the scheme', async (what, scheme, edit) => {
    server.editPlaylist = edit;
    const failure = await readFailure(capture());
    expect(failure).toBeInstanceOf(InvalidUrlError);
    expect(failure.remediation).toBe(
      `stream_url: The URL of a ${what} begins with "${scheme}:", which is not read. Use a stream whose ${what}s have http: or https: URLs.`,
    );
  });

  test('a redirect of a segment to a forbidden address is rejected', async () => {
    server.answer = (path, answer) =>
      path.startsWith('/segments/') ? { status: 302, headers: { location: inside }, body: '' } : answer;
    expect(await readFailure(capture())).toBeInstanceOf(InvalidUrlError);
  });
});

test('a server that refuses connections is a stream failure', async () => {
  const url = server.url('/live.m3u8');
  await server.close();
  const failure = await readFailure(
    capturer.capture({ url, mode: 'frames', clipSeconds: 3, caller: 'ada', resolveAgain: false }, never),
  );
  expect(failure.remediation).toContain('refuses connections');
  server = await startHlsServer(recording);
});

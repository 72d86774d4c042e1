import { afterAll, beforeAll, expect, test } from 'vitest';
import { createEgressGuard } from '../../../adapters/egress/guard.ts';
import { createGuardedHttp } from '../../../adapters/egress/guarded-http.ts';
import type { FfmpegInput, FfmpegRunner } from '../../../adapters/media/ffmpeg/run-ffmpeg.ts';
import { createStreamCapturer } from '../../../adapters/media/stream-capturer.ts';
import { InvalidUrlError } from '../../../core/errors.ts';
import type { StreamCapturer } from '../../../core/ports/stream-capturer.ts';
import { startHlsServer, type HlsServer } from '../../support/hls/hls-server.ts';

const never = new AbortController().signal;
const inputs: FfmpegInput[] = [];
const ffmpeg: FfmpegRunner = {
  run: (input) => {
    inputs.push(input);
    return Promise.resolve({ frame: new Uint8Array(1), thumbnail: new Uint8Array(1) });
  },
  runAll: () => Promise.resolve([]),
};
let server: HlsServer;
let http: ReturnType<typeof createGuardedHttp>;
let capturer: StreamCapturer;

beforeAll(async () => {
  server = await startHlsServer({
    segmentSeconds: 2,
    segments: Array(5).fill(Buffer.alloc(1)),
    initialization: null,
  });
  const guard = createEgressGuard({ allowRanges: ['127.0.0.0/8'] });
  http = createGuardedHttp(guard);
  capturer = createStreamCapturer({ guard, http, ffmpeg, now: () => new Date() });
});
afterAll(async () => {
  await http.close();
  await server.close();
});

test('an http URL is HLS, with any suffix', async () => {
  server.answer = (_path, answer) => ({ ...answer, status: 200, body: '#EXTM3U\n#EXT-X-TARGETDURATION:2' });
  await expect(capturer.probe(server.url('/stream/7?format=hls'), never, 'ada')).resolves.toMatchObject({
    platform: 'hls',
  });
  server.answer = (_path, answer) => answer;
  const request = {
    url: server.url('/live.m3u8'),
    mode: 'frames' as const,
    clipSeconds: 3,
    caller: 'ada',
    resolveAgain: false,
  };
  await expect(capturer.capture(request, never)).resolves.toMatchObject({
    position: { segment: expect.stringMatching(/^4:/) },
  });
  expect(inputs).toMatchObject([{ kind: 'pipe', format: 'mpegts', seconds: 2 }]);
});

test.each(['rtsp', 'rtsp+http'])('a URL with the scheme %s is RTSP', async (scheme) => {
  const url = server.url('/camera').replace('http', scheme);
  await expect(capturer.probe(url, never, 'ada')).rejects.toMatchObject({ code: 'STREAM_FETCH_FAILED' });
});

test.each([
  ['https://www.youtube.com/shorts/jNQXAC9IVRw', 'NOT_LIVESTREAM'],
  ['https://www.youtube.com/feed/subscriptions', 'INVALID_URL'],
  ['https://clips.twitch.tv/FaintLightGull', 'NOT_LIVESTREAM'],
  ['https://www.twitch.tv/directory', 'INVALID_URL'],
])('a platform URL is handled by its platform: %s', async (url, code) => {
  const failure: unknown = await capturer.probe(url, never, 'ada').catch((error: unknown) => error);
  expect(failure).toMatchObject({ code, remediation: expect.stringMatching(/YouTube|youtube|twitch/) });
});

test.each([
  '',
  'live',
  'ftp://example.com/a',
  'file:///etc/passwd',
  'rtmp://example.com/live',
  'http://',
  'http://10.0.0.1/a.m3u8',
])('a malformed, unsupported or private URL is rejected: %j', async (url) => {
  const request = { url, mode: 'frames' as const, clipSeconds: 3, caller: 'ada', resolveAgain: false };
  await expect(capturer.probe(url, never, 'ada')).rejects.toBeInstanceOf(InvalidUrlError);
  await expect(capturer.capture(request, never)).rejects.toBeInstanceOf(InvalidUrlError);
});

test('a URL that only resembles a platform is not handled by the platform', async () => {
  const failure: unknown = await capturer
    .probe('http://youtube.com.127.0.0.1.example.invalid/', never, 'ada')
    .catch((error: unknown) => error);
  expect(failure).toMatchObject({ code: 'STREAM_FETCH_FAILED' });
});

import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { createEgressGuard } from '../../../adapters/egress/guard.ts';
import { createGuardedHttp } from '../../../adapters/egress/guarded-http.ts';
import { createFfmpegRunner } from '../../../adapters/media/ffmpeg/run-ffmpeg.ts';
import { createHlsCapturer } from '../../../adapters/media/hls/capture-hls.ts';
import type { PictureLimits } from '../../../adapters/media/pictures/picture-limits.ts';
import { createWebCapturer } from '../../../adapters/media/stream-capturer.ts';
import { InvalidUrlError, NotLiveError, StreamFetchError } from '../../../core/errors.ts';
import type { CaptureRequest } from '../../../core/records/capture.ts';
import { readJpegHeader } from '../../../core/stream/jpeg.ts';
import { ffmpegPath } from '../../support/hls/recording.ts';
import { readFailure } from '../../support/hls/watched-stream.ts';
import {
  joinJpegs,
  motionJpeg,
  multipart,
  servePictures,
  snapshot,
  writePart,
  type PictureServer,
} from '../../support/servers/pictures.ts';
import { sharedFolder } from '../../support/runner/run-folder.ts';

/** Web addresses of cameras, with the real guard, HTTP client and ffmpeg. */

const now = new Date('2026-11-20T12:00:00Z');
const never = new AbortController().signal;
const http = createGuardedHttp(createEgressGuard({ allowRanges: ['127.0.0.0/8'] }));
const ffmpeg = createFfmpegRunner({ ffmpegPath, tempDir: sharedFolder() });
let server: PictureServer;
/** Pictures of one gray each, from dark to bright. */
let grays: Buffer[];

beforeAll(async () => {
  grays = await Promise.all([40, 90, 140, 190, 240].map((gray) => draw('320x240', gray)));
});
afterEach(() => server.close());
afterAll(() => http.close());

async function draw(size: string, gray: number): Promise<Buffer> {
  const color = `color=#${gray.toString(16).repeat(3)}:size=${size}:duration=1:rate=1`;
  const args = `-f lavfi -i ${color} -frames:v 1 -f image2pipe -c:v mjpeg pipe:1`.split(' ');
  const options = { encoding: 'buffer', maxBuffer: 1e8 } as const;
  return (await promisify(execFile)(ffmpegPath, args, options)).stdout;
}

async function camera(answers: PictureServer['answers'], pictureLimits: Partial<PictureLimits> = {}) {
  server = await servePictures(answers);
  const hls = createHlsCapturer({ http, ffmpeg, now: () => now });
  const capturer = createWebCapturer({ http, ffmpeg, now: () => now, hls, pictureLimits });
  return {
    probe: (path = '/cam') => capturer.probe(server.url(path), never, 'ada'),
    capture: (more: Partial<CaptureRequest> = {}, path = '/cam') => {
      const request = { mode: 'frames', clipSeconds: 1, caller: 'ada', resolveAgain: false } as const;
      return capturer.capture({ url: server.url(path), ...request, ...more }, never);
    },
    withUser: (user: string) => server.url('/cam').replace('//', `//${user}@`),
  };
}

const withoutMiddle = (jpeg: Buffer) => Buffer.concat([jpeg.subarray(0, -60), jpeg.subarray(-2)]);
/** Mean brightness of a thumbnail. */
const brightness = ({ thumbnail }: { thumbnail: Uint8Array }): number =>
  thumbnail.subarray(0, 160 * 90).reduce((sum, value) => sum + value, 0) / (160 * 90);

const remediation = async (promise: Promise<unknown>) => (await readFailure(promise)).remediation;

describe('a JPEG over HTTP', () => {
  test('the picture is the frame, and equal bytes are the same position', async () => {
    let picture = grays[0]!;
    const { probe, capture } = await camera({ '/cam': snapshot(() => picture) });
    expect(await probe()).toMatchObject({ platform: 'jpeg', framesOnly: true });
    const first = await capture();
    expect(readJpegHeader(first.frame)).toEqual({ width: 320, height: 240 });
    expect((await capture()).position).toEqual(first.position);
    picture = grays[4]!;
    const later = await capture();
    expect(brightness(later)).toBeGreaterThan(brightness(first) + 100);
    expect(later.position.segment).not.toBe(first.position.segment);
  });

  test.each(['text/plain', 'application/octet-stream', 'text/html', ''])(
    'the content type %j does not matter',
    async (type) => {
      const { probe } = await camera({ '/cam': snapshot(grays[0]!, { 'content-type': type }) });
      expect(await probe()).toMatchObject({ platform: 'jpeg' });
    },
  );

  test('Last-Modified dates the picture by the clock of its server, and max-age is the time between new ones', async () => {
    const headers = {
      date: 'Wed, 18 Nov 2026 10:05:00 GMT',
      'last-modified': 'Wed, 18 Nov 2026 10:00:00 GMT',
      'cache-control': 'public, max-age=600',
    };
    const { capture } = await camera({ '/cam': snapshot(grays[0]!, headers) });
    expect(await capture()).toMatchObject({
      capturedAt: new Date('2026-11-20T11:55:00Z'),
      position: { segment_seconds: 600 },
    });
  });

  test.each([
    ['05:00:00', 'max-age=0', '7 hours ago (Fri, 20 Nov 2026 05:00:00 GMT)'],
    ['10:45:00', '', 'an hour ago'],
    ['11:15:00', '', undefined],
    ['10:00:00', 'max-age=2700', undefined],
    ['09:00:00', 'max-age=2700', '3 hours ago'],
  ])(
    'a picture of %s o’clock that does not change is stale by its max-age ("%s") at 12:00',
    async (time, control, said) => {
      const date = 'Fri, 20 Nov 2026 12:00:00 GMT';
      const headers = { date, 'last-modified': date.replace('12:00:00', time), 'cache-control': control };
      const { probe } = await camera({ '/cam': snapshot(grays[0]!, headers) });
      if (said === undefined) expect(await probe()).toMatchObject({ platform: 'jpeg' });
      else {
        const failure = await readFailure(probe());
        expect(failure).toBeInstanceOf(NotLiveError);
        expect(failure.remediation).toContain(
          `The picture is stale: its server says that it was last changed ${said}`,
        );
      }
    },
  );

  test('a picture of another day is no camera, unless its bytes change', async () => {
    const headers = { 'last-modified': 'Wed, 18 Nov 2020 10:00:00 GMT' };
    let served = 0;
    const { probe } = await camera({
      '/old': snapshot(grays[0]!, headers),
      '/clock': snapshot(() => grays[(served += 1)]!, headers),
    });
    const failure = await readFailure(probe('/old'));
    expect(failure).toBeInstanceOf(NotLiveError);
    expect(failure.remediation).toContain('18 Nov 2020');
    expect(await probe('/clock')).toMatchObject({ platform: 'jpeg' });
  });

  test('a picture that ends early is requested once more', async () => {
    let served = 0;
    const cut = () => ((served += 1) === 1 ? grays[0]!.subarray(0, -100) : grays[0]!);
    const { capture, probe } = await camera({
      '/cam': snapshot(cut),
      '/cut': snapshot(grays[0]!.subarray(0, -100)),
    });
    expect(brightness(await capture())).toBeGreaterThan(0);
    expect(await remediation(probe('/cut'))).toContain('incomplete');
  });

  test('a cookie of a redirect to the same address is sent, for a picture as for a playlist', async () => {
    const { capture } = await camera({
      '/cam': (response, request) =>
        request.headers.cookie === 'session=7'
          ? snapshot(grays[4]!)(response)
          : void response.writeHead(302, { location: '/cam', 'set-cookie': 'session=7; Path=/' }).end(),
    });
    expect(brightness(await capture())).toBeGreaterThan(200);
  });

  test('a picture whose middle is missing is damaged', async () => {
    const { capture } = await camera({ '/cam': snapshot(withoutMiddle(grays[0]!)) });
    expect(await remediation(capture())).toContain('damaged JPEG');
  });

  test('a clip is refused with the mode that works', async () => {
    const { capture } = await camera({ '/cam': snapshot(grays[0]!) });
    expect(await readFailure(capture({ mode: 'clip' }))).toMatchObject({
      message: 'Failed to capture video clip from stream',
      remediation: expect.stringContaining('input_mode "frames"'),
    });
  });

  test('a look back has no frames and leaves out the time since the last one', async () => {
    const { capture } = await camera({ '/cam': snapshot(grays[0]!) });
    const first = await capture({ lookBack: { since: null } });
    expect(first.scan).toMatchObject({ frames: [], leftOutSeconds: 0, distanceSeconds: 0 });
    const since = `? ? ${now.getTime() - 12_000}`;
    const { scan } = await capture({ lookBack: { since } });
    expect(scan).toMatchObject({ frames: [], leftOutSeconds: 12 });
  });
});

describe('a JPEG beyond the limits', () => {
  test('100 megapixels are named and never decoded', async () => {
    const huge = Buffer.from(grays[0]!);
    const header = huge.indexOf(Buffer.from([0xff, 0xc0]));
    huge.writeUInt16BE(10_000, header + 5);
    huge.writeUInt16BE(10_000, header + 7);
    const { probe } = await camera({ '/cam': snapshot(huge) });
    expect(await remediation(probe())).toMatch(/^The picture has 100\.0 megapixels, and at most 12\.6/);
  });

  test('50 MB are refused after 16 MB', async () => {
    const head = grays[0]!.subarray(0, -2);
    const long = Buffer.concat([head, Buffer.alloc(50 * 1024 * 1024, 1)]);
    const { probe } = await camera({ '/cam': snapshot(long) });
    expect(await remediation(probe())).toContain('more than 16 MB');
  });
});

describe('Motion JPEG', () => {
  test('the newest picture of those that arrive together is the frame', async () => {
    const { probe, capture } = await camera({
      '/cam': (response) => {
        response.writeHead(200, multipart);
        response.cork();
        for (const jpeg of [grays[0]!, grays[1]!, grays[4]!]) writePart(response, jpeg);
        response.uncork();
        // A camera sends more: a slow reader finds pictures that arrive together once more.
        const timer = setInterval(() => writePart(response, grays[4]!), 20);
        response.on('close', () => clearInterval(timer));
      },
    });
    expect(await probe()).toMatchObject({ platform: 'mjpeg', framesOnly: false });
    const captured = await capture();
    expect(brightness(captured)).toBeGreaterThan(200);
    expect(captured.position).toEqual({ segment: null, segment_seconds: 0 });
  });

  test('a frame is the newest picture of a stream that sends a queue of older ones first', async () => {
    const { capture } = await camera({
      '/cam': (response) => {
        response.writeHead(200, multipart);
        for (let sent = 0; sent < 100; sent += 1) writePart(response, grays[0]!);
        writePart(response, grays[4]!);
      },
    });
    expect(brightness(await capture())).toBeGreaterThan(200);
  });

  test.each([
    ['the next one', [withoutMiddle, (jpeg: Buffer) => jpeg]],
    ['the one before', [(jpeg: Buffer) => jpeg, withoutMiddle]],
    ['the one before joined ones', [(jpeg: Buffer) => jpeg, () => joinJpegs(grays[0]!, grays[1]!)]],
  ])('%s is the frame if the newest picture is damaged', async (_which, changes) => {
    const { capture } = await camera({
      '/cam': (response) => {
        response.writeHead(200, multipart);
        changes.forEach((change, at) => setTimeout(() => writePart(response, change(grays[4]!)), 100 * at));
        setTimeout(() => response.end(), 200);
      },
    });
    expect(brightness(await capture())).toBeGreaterThan(200);
  });

  test('a clip has the pictures by their arrival', async () => {
    const { capture } = await camera({ '/cam': motionJpeg(grays, 210) });
    const { clip, thumbnail } = await capture({ mode: 'hybrid', clipSeconds: 1 });
    expect(brightness({ thumbnail })).toBeGreaterThan(150);
    expect(Buffer.from(clip!).subarray(4, 8).toString()).toBe('ftyp');
  });

  test('a thousand pictures per second make a clip of five per second', async () => {
    const { capture } = await camera({ '/cam': motionJpeg(grays, 1) });
    const { clip } = await capture({ mode: 'clip', clipSeconds: 1 });
    expect(clip!.length).toBeGreaterThan(500);
  });

  test('a slow stream has frames only, and its clip names the rate', async () => {
    const { probe, capture } = await camera({ '/cam': motionJpeg(grays, 700) });
    expect(await probe()).toMatchObject({ platform: 'mjpeg', framesOnly: true });
    expect(await remediation(capture({ mode: 'clip', clipSeconds: 2 }))).toMatch(
      /^The stream sent 3 pictures in 2 s, and a clip needs 2 per second/,
    );
    expect(brightness(await capture())).toBeGreaterThan(0);
  });

  test.each([
    ['without boundary and lengths', { 'content-type': 'multipart/x-mixed-replace' }],
    ['as video/x-motion-jpeg', { 'content-type': 'video/x-motion-jpeg' }],
    ['with a wrong type', { 'content-type': 'text/plain' }],
  ])('a stream %s is read', async (_, headers) => {
    const { probe } = await camera({ '/cam': motionJpeg([await draw('640x480', 90)], 20, headers) });
    expect(await probe()).toMatchObject({ platform: 'mjpeg' });
  });

  test.each([
    ['that never sends a picture', 'No complete picture arrived within', () => undefined],
    [
      'with a part that never ends',
      'The picture is incomplete',
      (write: (bytes: Uint8Array) => void) => write(grays[0]!.subarray(0, -2)),
    ],
  ])('a stream %s fails in time', async (_, message, send) => {
    const answer: PictureServer['answers'][string] = (response) => {
      response.writeHead(200, multipart);
      response.flushHeaders();
      send((bytes) => void response.write(bytes));
    };
    const { probe } = await camera({ '/cam': answer }, { pictureMs: 300 });
    expect(await remediation(probe())).toContain(message);
  });

  test('a stream of bytes without a picture is refused at its limit', async () => {
    const { probe } = await camera(
      { '/cam': (response) => response.writeHead(200, multipart).end(Buffer.alloc(3_000_000, 0x20)) },
      { streamBytes: 1024 * 1024 },
    );
    expect(await remediation(probe())).toContain('more than 1 MB for one check');
  });
});

describe('another response', () => {
  test.each([
    ['a web page', '<!doctype html><html><body>Log in</body></html>', /a web page, not to a stream.*JPEG/s],
    [
      'a DASH manifest',
      '<?xml version="1.0"?><MPD></MPD>',
      /a DASH manifest, which is not read\. Use the HLS playlist/,
    ],
    ['a PNG', '\x89PNG\r\n', /a PNG picture, and only JPEG can be read/],
  ])('%s is named with what to use instead', async (_, content, text) => {
    const failure = await readFailure(
      (await camera({ '/cam': snapshot(Buffer.from(content, 'latin1')) })).probe(),
    );
    expect(failure).toBeInstanceOf(InvalidUrlError);
    expect(failure.remediation).toMatch(text);
  });

  test('an empty response is asked for again, and is a passing failure of the stream', async () => {
    const empty = await camera({ '/cam': snapshot(Buffer.alloc(0), { 'content-type': 'image/jpeg' }) });
    const failure = await readFailure(empty.probe());
    expect(failure.code).toBe('STREAM_FETCH_FAILED');
    expect(failure.remediation).toContain('without a body');
  });

  test('a playlist without its extension is HLS, and its kind is detected once', async () => {
    const playlist = '#EXTM3U\n#EXT-X-TARGETDURATION:2\n';
    const { probe } = await camera({ '/cam': snapshot(Buffer.from(playlist)) });
    expect(await probe()).toMatchObject({ platform: 'hls' });
    expect(server.requests).toHaveLength(2);
    await probe();
    expect(server.requests).toHaveLength(3);
  });

  test('a playlist is followed between checks, once a capture has found that it is one, and a camera is not', async () => {
    const requests: string[] = [];
    const hls = {
      ...createHlsCapturer({ http, ffmpeg, now: () => now }),
      probe: async (url: string) => ({ platform: 'hls' as const, playbackUrl: url }),
      follow: async ({ url }: { url: string }) => void requests.push(URL.parse(url)!.pathname),
    };
    server = await servePictures({ '/cam': (response) => response.end('#EXTM3U\n') });
    const capturer = createWebCapturer({ http, ffmpeg, now: () => now, hls });
    const follow = (path: string) =>
      capturer.follow!({ url: server.url(path), caller: 'ada', after: null }, () => undefined, never);
    await follow('/cam');
    await follow('/live.m3u8');
    expect(requests).toEqual(['/live.m3u8']);
    await capturer.probe(server.url('/cam'), never, 'ada');
    await follow('/cam');
    expect(requests).toEqual(['/live.m3u8', '/cam']);
  });

  test('a missing path is an offline stream', async () => {
    const { probe, capture } = await camera({});
    expect(await readFailure(probe())).toMatchObject({ message: 'Stream is offline' });
    expect(await readFailure(capture())).toBeInstanceOf(StreamFetchError);
  });
});

describe('authentication', () => {
  const basic = `Basic ${Buffer.from('user:p@ss').toString('base64')}`;
  const challenge = 'Digest realm="cam", nonce="abc", qop="auth"';
  const md5 = (text: string) => createHash('md5').update(text).digest('hex');

  /** Returns true for the digest response of user and password to the challenge. */
  function isDigest(header: string | undefined, path: string): boolean {
    const field = (name: string) => new RegExp(`${name}="?([^",]+)`).exec(header ?? '')?.[1] ?? '';
    const expected = [md5('user:cam:p@ss'), 'abc', field('nc'), field('cnonce'), 'auth', md5(`GET:${path}`)];
    return field('response') === md5(expected.join(':')) && field('uri') === path;
  }

  const guarded =
    (
      accepts: (header: string | undefined, path: string) => boolean,
      ...offered: string[]
    ): PictureServer['answers'][string] =>
    (response, request) => {
      if (accepts(request.headers.authorization, request.url ?? '')) snapshot(grays[0]!)(response);
      else response.writeHead(401, { 'www-authenticate': offered }).end('no');
    };

  test('Digest is answered, and later requests need no challenge', async () => {
    const { capture, withUser } = await camera({ '/cam': guarded(isDigest, challenge) });
    await capture({ url: `${withUser('user:p%40ss')}?channel=1` });
    expect(server.requests).toHaveLength(2);
    await capture({ url: `${withUser('user:p%40ss')}?channel=1` });
    expect(server.requests).toHaveLength(3);
  });

  test('Basic is answered, but never if Digest is offered', async () => {
    const { capture, withUser } = await camera({
      '/cam': guarded((header) => header === basic, 'Basic realm="cam"'),
    });
    await capture({ url: withUser('user:p%40ss') });
    server.answers['/cam'] = guarded(isDigest, 'Basic realm="cam"', challenge);
    await capture({ url: `${withUser('user:p%40ss')}?2` });
    const sent = server.requests.map(({ headers }) => headers.authorization?.split(' ')[0]);
    expect(sent).toEqual([undefined, 'Basic', undefined, 'Digest']);
  });

  test.each([
    ['no credentials', '', 'Add the user name and password to the URL'],
    ['wrong credentials', 'user:wrong@', 'rejected the user name and password'],
  ])('%s are an access refused, after few requests', async (_, user, text) => {
    const { capture } = await camera({ '/cam': guarded(isDigest, challenge) });
    const failure = await readFailure(capture({ url: server.url('/cam').replace('//', `//${user}`) }));
    expect(failure).toMatchObject({ accessRefused: true, remediation: expect.stringContaining(text) });
    expect(server.requests.length).toBeLessThanOrEqual(2);
  });

  test('credentials follow a redirect on their server, and none to another', async () => {
    const other = await servePictures({ '/cam': guarded(() => false, challenge) });
    const { capture, withUser } = await camera({
      '/cam': (response) => void response.writeHead(302, { location: '/real?x=1' }).end(),
      '/real': guarded(isDigest, challenge),
    });
    await capture({ url: withUser('user:p%40ss') });
    server.answers['/cam'] = (response) =>
      void response.writeHead(302, { location: other.url('/cam') }).end();
    const failure = await readFailure(capture({ url: withUser('user:p%40ss') }));
    expect(failure).toBeInstanceOf(StreamFetchError);
    expect(other.requests.map(({ headers }) => headers.authorization)).toEqual([undefined]);
    await other.close();
  });

  test('a redirect to an address that is not allowed is refused', async () => {
    const { capture } = await camera({
      '/cam': (response) => void response.writeHead(302, { location: 'http://10.0.0.1/cam' }).end(),
    });
    expect(await readFailure(capture())).toBeInstanceOf(InvalidUrlError);
  });
});

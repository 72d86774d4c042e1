import { randomBytes } from 'node:crypto';
import { chmod, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createFfmpegRunner } from '../../adapters/media/ffmpeg/run-ffmpeg.ts';
import { ffmpegPath, record } from '../support/hls/recording.ts';
import { createHttpCaller } from '../support/api/http-caller.ts';
import { createWorld } from '../support/world.ts';
import { openAttack, type Attack } from './attack.ts';
import { brotliBomb, dripping, endless, gzipBomb } from './bombs.ts';
import { count } from './counted.ts';
import {
  movieOfManyPixels,
  movieOfManyTracks,
  streamOfManyPixels,
  streamThatJumps,
} from './hostile-media.ts';
import { measurePeak } from './memory.ts';
import type { HostileFile } from './vectors/vector.ts';
import { folderOfFile } from '../support/temporary-folder.ts';

const tempDir = folderOfFile();
let attack: Attack;
/** For servers that are slow: its time for a response is short. */
let impatient: Attack;
beforeAll(async () => {
  const ffmpeg = createFfmpegRunner({ ffmpegPath, tempDir });
  attack = await openAttack({ ffmpeg, requestTimeoutMs: 2_000 });
  impatient = await openAttack({ ffmpeg, requestTimeoutMs: 500 });
});
afterAll(async () => {
  await attack.close();
  await impatient.close();
});

/**
 * Maximum growth of the process, in MB. A playlist can have 8 MB, the segments of a capture 32 MB, and each has a few
 * copies for a short time.
 */
const maxOwn = 250;
/** Maximum memory of ffmpeg, in MB: some frames of 12 megapixels, and its own code. */
const maxOfFfmpeg = 400;

async function limited(files: Record<string, HostileFile>, used = attack) {
  const url = used.server.host({ name: 'limit', entry: 'live.m3u8', files });
  let outcome = { probe: '', capture: '' };
  const peak = await measurePeak(async () => {
    outcome = await used.run(url);
  });
  expect(peak.own).toBeLessThan(maxOwn);
  expect(peak.child).toBeLessThan(maxOfFfmpeg);
  return outcome;
}

const playlist = (...lines: string[]) => ['#EXTM3U', '#EXT-X-TARGETDURATION:2', ...lines].join('\n');
const segmentIs = (segment: HostileFile, name = 'hostile.ts') => ({
  // As long as is waited for a key frame.
  'live.m3u8': playlist('#EXTINF:12,', name),
  [name]: segment,
});
const encoded =
  (encoding: string, body: Buffer): HostileFile =>
  (response) =>
    void response.writeHead(200, { 'content-encoding': encoding }).end(body);
const redirectToAnother: HostileFile = (response) =>
  void response.writeHead(302, { location: `live.m3u8?${randomBytes(4).toString('hex')}` }).end();

describe('a playlist', () => {
  test.for<[string, () => HostileFile | Promise<HostileFile>]>([
    ['a gigabyte in gzip', () => encoded('gzip', gzipBomb())],
    ['a gigabyte in Brotli', async () => encoded('br', await brotliBomb())],
    ['no end', () => endless(`${playlist()}\n`.repeat(500))],
    ['no end of a single line', () => endless('#EXTM3U'.padEnd(65_536, ' '))],
    [
      'ten gigabytes announced',
      () => (response) => void response.writeHead(200, { 'content-length': 1e10 }).write('#'),
    ],
    ['a head of a megabyte', () => ({ headers: { 'x-a': 'a'.repeat(1e6) } })],
    ['a redirect to another for ever', () => redirectToAnother],
    ['a million lines', () => playlist('a\n'.repeat(1e6))],
    ['half a million segments', () => playlist('#EXTINF:2,\na\n'.repeat(5e5))],
    ['half a million ends', () => playlist('#EXT-X-ENDLIST\n'.repeat(5e5))],
    [
      'a hundred thousand init sections for one segment',
      () => playlist('#EXT-X-MAP:URI="a"\n'.repeat(1e5), 'a'),
    ],
    [
      'variables that unfold',
      () => playlist(`#EXT-X-DEFINE:NAME="a",VALUE="${'b'.repeat(4e6)}"`, '{$a}'.repeat(1e5)),
    ],
  ])('a playlist of %s fails as a stream, in bounded memory', async ([, make], test) => {
    const outcome = await limited({ 'live.m3u8': await make() });
    expect(['STREAM_FETCH_FAILED', 'INVALID_URL']).toContain(outcome.probe);
    expect(outcome.capture).toBe(outcome.probe);
    count(test, { limits: 1 });
  });

  test.for<[string, HostileFile]>([
    ['a byte now and then', dripping('body', 100)],
    ['a head that does not end', dripping('head', 100)],
    ['no answer', () => undefined],
  ])('a playlist of %s fails as a stream when its time is over', async ([, file], test) => {
    const failed = { probe: 'STREAM_FETCH_FAILED', capture: 'STREAM_FETCH_FAILED' };
    expect(await limited({ 'live.m3u8': file }, impatient)).toEqual(failed);
    count(test, { limits: 1 });
  });

  test('a playlist of a million variants selects one of the first', async (test) => {
    const variants = '#EXT-X-STREAM-INF:BANDWIDTH=1\nok.m3u8\n'.repeat(2e5);
    expect(await limited({ 'live.m3u8': `#EXTM3U\n${variants}` })).toEqual({
      probe: 'done',
      capture: 'done',
    });
    count(test, { limits: 1 });
  });

  test('a playlist whose init section changes 50,000 times is captured from its end', async (test) => {
    const changes = Array.from(
      { length: 50_000 },
      (_, at) => `#EXT-X-MAP:URI="init.mp4?${at}"\n#EXTINF:2,\nok.m4s`,
    );
    expect(await limited({ 'live.m3u8': playlist(...changes) })).toEqual({ probe: 'done', capture: 'done' });
    count(test, { limits: 1 });
  });
});

describe('a segment', () => {
  test.for<[string, () => Record<string, HostileFile> | Promise<Record<string, HostileFile>>]>([
    ['without end', () => segmentIs(endless(Buffer.alloc(65_536, 0x47)))],
    ['of a gigabyte in gzip', () => segmentIs(encoded('gzip', gzipBomb()))],
    [
      'of ten gigabytes',
      () => segmentIs((response) => void response.writeHead(200, { 'content-length': 1e10 }).write('G')),
    ],
    [
      'with a key without end',
      () => ({
        'live.m3u8': playlist('#EXT-X-KEY:METHOD=AES-128,URI="hostile"', '#EXTINF:2,', 'ok.ts'),
        hostile: endless('k'.repeat(65_536)),
      }),
    ],
    [
      'with an init section without end',
      () => ({
        'live.m3u8': playlist('#EXT-X-MAP:URI="hostile.mp4"', '#EXTINF:2,', 'ok.m4s'),
        'hostile.mp4': endless(Buffer.alloc(65_536)),
      }),
    ],
    ['of noise', () => segmentIs(randomBytes(4e6))],
    ['of frames of a hundred megapixels', async () => segmentIs(await movieOfManyPixels(), 'hostile.mov')],
    ['of frames a little above the limit', async () => segmentIs(await streamOfManyPixels())],
    ['of ten thousand tracks', async () => segmentIs(await movieOfManyTracks(), 'hostile.mov')],
  ])('a segment %s fails as a stream, in bounded memory', async ([, make], test) => {
    expect(await limited(await make())).toMatchObject({ capture: 'STREAM_FETCH_FAILED' });
    count(test, { limits: 1 });
  });

  test('a segment of a byte now and then fails as a stream when its time is over', async (test) => {
    const outcome = await limited(segmentIs(dripping('body', 100)), impatient);
    expect(outcome).toMatchObject({ capture: 'STREAM_FETCH_FAILED' });
    count(test, { limits: 1 });
  });

  test('a segment whose clock jumps by a day gives a frame or a failure, and no day of frames', async (test) => {
    const { capturer, server } = attack;
    const url = server.host({ name: 'jump', entry: 'live.m3u8', files: segmentIs(await streamThatJumps()) });
    const peak = await measurePeak(() =>
      capturer
        .capture(
          { url, mode: 'clip', clipSeconds: 3, caller: 'ada', resolveAgain: false },
          AbortSignal.timeout(25_000),
        )
        .catch((error: unknown) => expect(error).toMatchObject({ code: 'STREAM_FETCH_FAILED' })),
    );
    expect(peak.own).toBeLessThan(maxOwn);
    expect(peak.child).toBeLessThan(maxOfFfmpeg);
    count(test, { limits: 1 });
  });
});

describe('ffmpeg', () => {
  test('the watchdog ends an ffmpeg that hangs', async (test) => {
    const hanging = join(tempDir, 'hanging');
    await writeFile(hanging, '#!/bin/sh\nexec sleep 60\n');
    await chmod(hanging, 0o755);
    const [segment = Buffer.alloc(0)] = (await record()).segments;
    const runner = createFfmpegRunner({ ffmpegPath: hanging, tempDir });
    const input = { kind: 'pipe' as const, format: 'mpegts' as const, chunks: [segment] };
    const wanted = { mode: 'clip' as const, clipSeconds: 3 };
    await expect(
      runner.run(input, wanted, { timeoutMs: 200 }, new AbortController().signal),
    ).rejects.toMatchObject({
      code: 'STREAM_FETCH_FAILED',
    });
    count(test, { limits: 1 });
  });
});

describe('the API', () => {
  test.for<[string, HostileFile, () => Attack, string]>([
    ['a bomb', encoded('gzip', gzipBomb()), () => attack, 'too large'],
    ['a playlist without end', endless('#EXTM3U\n'.repeat(8_192)), () => attack, 'too large'],
    ['a slow server', dripping('body', 100), () => impatient, 'did not respond in time'],
  ])('the API responds to %s with an error of the contract', async ([, file, find, message], test) => {
    const { capturer, server } = find();
    const world = createWorld();
    world.c.streams = capturer;
    const call = await createHttpCaller(world);
    const url = server.host({ name: 'api', entry: 'live.m3u8', files: { 'live.m3u8': file } });
    const validated = await call('POST', '/streams/validate', { stream_url: url });
    expect(JSON.stringify(validated.body)).toContain(message);
    const checked = await call('POST', '/check-once', { stream_url: url, condition: 'a ship' });
    expect(checked.body.error).toMatchObject({
      code: 'STREAM_FETCH_FAILED',
      remediation: expect.any(String),
    });
    count(test, { limits: 1 });
  });

  test.for([
    ['a hundred megapixels', [10_000, 10_000]],
    ['the maximum size', [65_535, 65_535]],
    ['no width', [0, 100]],
  ] as const)('the API rejects a frame whose header announces %s', async ([, [width, height]], test) => {
    const world = createWorld();
    const call = await createHttpCaller(world);
    const frame = Buffer.concat([
      Buffer.from([0xff, 0xd8, 0xff, 0xc0, 0, 17, 8, height >> 8, height & 255, width >> 8, width & 255, 3]),
      Buffer.alloc(9, 1),
      Buffer.from([0xff, 0xda, 0, 2]),
      Buffer.alloc(100),
    ]);
    const reply = await call('POST', '/analyze-frame', {
      frame_b64: frame.toString('base64'),
      question: 'What is it?',
    });
    expect(reply).toMatchObject({ status: 400, body: { error: { remediation: expect.any(String) } } });
    count(test, { limits: 1 });
  });
});

import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createFfmpegRunner, type FfmpegRunner } from '../../adapters/media/ffmpeg/run-ffmpeg.ts';
import { ffmpegPath } from '../support/hls/recording.ts';
import { openAttack, type Attack } from './attack.ts';
import { dripping, endless } from './bombs.ts';
import { count } from './counted.ts';
import { movieOfManyPixels, streamOfManyPixels } from './hostile-media.ts';
import { measurePeak } from './memory.ts';
import type { HostileFile } from './vectors/vector.ts';
import { folderOfFile } from '../support/temporary-folder.ts';

const tempDir = folderOfFile();
let attack: Attack;
let processes = 0;

beforeAll(async () => {
  const runner = createFfmpegRunner({ ffmpegPath, tempDir });
  const ffmpeg: FfmpegRunner = {
    run: (...call) => {
      processes += 1;
      return runner.run(...call);
    },
    runAll: (...call) => {
      processes += 1;
      return runner.runAll(...call);
    },
  };
  attack = await openAttack({ ffmpeg, requestTimeoutMs: 2_000 });
});
afterAll(() => attack.close());

const bomb = gzipSync(Buffer.alloc(7_000_000));

/** A position of which only the time is known, long ago: all that a playlist lists is new. */
const longAgo = '? ? 0';

/** Captures and scans a stream, in bounded memory and time. */
async function scan(files: Record<string, HostileFile>, entry = 'live.m3u8') {
  const url = attack.server.host({ name: 'scan', entry, files });
  processes = 0;
  let found: Awaited<ReturnType<Attack['capturer']['capture']>> | undefined;
  const request = { url, mode: 'frames', clipSeconds: 3, caller: 'ada', resolveAgain: false } as const;
  const beganMs = performance.now();
  const peak = await measurePeak(async () => {
    found = await attack.capturer.capture(
      { ...request, lookBack: { since: longAgo } },
      AbortSignal.timeout(40_000),
    );
  });
  expect(peak.own).toBeLessThan(250);
  expect(peak.child).toBeLessThan(400);
  expect(performance.now() - beganMs).toBeLessThan(25_000);
  return found!.scan!;
}

const playlist = (...lines: string[]) => ['#EXTM3U', '#EXT-X-TARGETDURATION:2', ...lines].join('\n');
const segments = (...names: string[]) => playlist(...names.flatMap((name) => ['#EXTINF:2,', name]));

test.for<[string, () => Record<string, HostileFile> | Promise<Record<string, HostileFile>>]>([
  ['without end', () => ({ 'hostile.ts': endless(Buffer.alloc(65_536, 0x47)) })],
  ['of a byte now and then', () => ({ 'hostile.ts': dripping('body', 100) })],
  ['without an answer', () => ({ 'hostile.ts': () => undefined })],
  ['of frames a little above the limit', async () => ({ 'hostile.ts': await streamOfManyPixels() })],
  ['of frames of a hundred megapixels', async () => ({ 'hostile.mov': await movieOfManyPixels() })],
])('a scan leaves out segments %s, and does not fail its capture', async ([, make], test) => {
  const files = await make();
  const [name = ''] = Object.keys(files);
  const discontinued = [name, name, 'ok.ts'].flatMap((each) => ['#EXT-X-DISCONTINUITY', '#EXTINF:2,', each]);
  const found = await scan({ ...files, 'live.m3u8': playlist(...discontinued) });
  expect(found.frames).toEqual([]);
  expect(found.leftOutSeconds).toBeGreaterThanOrEqual(4);
  count(test, { limits: 1 });
});

test('initialization sections count in the budget of a scan, also what of them is cut', async (test) => {
  let bodies = 0;
  const section: HostileFile = (response) => {
    bodies += 1;
    response.writeHead(200, { 'content-encoding': 'gzip' }).end(bomb);
  };
  const names = Array.from({ length: 60 }, (_, at) => `${at}.mp4`);
  const lines = names.flatMap((name) => [
    '#EXT-X-DISCONTINUITY',
    `#EXT-X-MAP:URI="${name}",BYTERANGE="100@0"`,
    '#EXTINF:1,',
    `ok.m4s?${name}`,
  ]);
  const newest = ['#EXT-X-DISCONTINUITY', '#EXT-X-MAP:URI="init.mp4"', '#EXTINF:1,', 'ok.m4s'];
  const files = Object.fromEntries(names.map((name) => [name, section]));
  await scan({ ...files, 'live.m3u8': playlist(...lines, ...newest) });
  // Four whole ones are 28 of 32 MB; what is left is halved by each that is cut.
  expect(bodies).toBeLessThanOrEqual(40);
  count(test, { limits: 1 });
});

test('a scan of ten thousand segments with a discontinuity each starts few processes', async (test) => {
  const lines = Array.from({ length: 10_000 }, (_, at) => `#EXT-X-DISCONTINUITY\n#EXTINF:0.5,\nok.ts?${at}`);
  const found = await scan({ 'live.m3u8': playlist(...lines) });
  expect(processes).toBeLessThanOrEqual(5);
  expect(found.leftOutSeconds).toBeGreaterThan(0);
  count(test, { limits: 1 });
});

test('a scan of a rendition inside of the network reads the judged one, and touches nothing', async (test) => {
  const variant = (height: number, uri: string) =>
    `#EXT-X-STREAM-INF:BANDWIDTH=${height}00,RESOLUTION=${height * 2}x${height}\n${uri}`;
  const master = (uri: string) => ['#EXTM3U', variant(720, 'live.m3u8'), variant(240, uri)].join('\n');
  for (const uri of ['http://inside.example:{port}/low.m3u8', 'low.m3u8']) {
    const found = await scan(
      {
        'master.m3u8': master(uri),
        'live.m3u8': segments('ok.ts', 'ok.ts?2'),
        'low.m3u8': segments('http://inside.example:{port}/a.ts', 'http://127.0.0.1:{port}/b.ts'),
      },
      'master.m3u8',
    );
    expect(found.frames.length).toBeLessThanOrEqual(1);
  }
  expect(attack.canaries.touched()).toEqual([]);
  count(test, { limits: 1 });
});

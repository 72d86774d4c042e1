import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { createEgressGuard } from '../../../../adapters/egress/guard.ts';
import { createGuardedHttp } from '../../../../adapters/egress/guarded-http.ts';
import { createJoinClip } from '../../../../adapters/media/clips/join-clip.ts';
import { createKeptStreams } from '../../../../adapters/media/clips/kept-stream.ts';
import { withoutTurns, type InTurn } from '../../../../adapters/media/ffmpeg/in-turn.ts';
import { createFfmpegRunner } from '../../../../adapters/media/ffmpeg/run-ffmpeg.ts';
import { createStreamCapturer } from '../../../../adapters/media/stream-capturer.ts';
import { MachineBusyError, StreamFetchError } from '../../../../core/errors.ts';
import type { ClipRequest } from '../../../../core/records/clip.ts';
import { addSeconds } from '../../../../core/time.ts';
import { ffmpegPath, record } from '../../../support/hls/recording.ts';
import { readFilm } from '../../../support/read-film.ts';
import { startCamera } from '../../../support/rtsp/camera.ts';
import { recordRtp } from '../../../support/rtsp/rtp-recording.ts';
import { sharedFolder } from '../../../support/runner/run-folder.ts';
import { motionJpeg, multipart, servePictures, snapshot } from '../../../support/servers/pictures.ts';

/** Clips of live connections of which nothing is kept, from the opening on. */

const now = new Date('2026-11-20T12:00:00Z');
const guard = createEgressGuard({ allowRanges: ['127.0.0.0/8'] });
const http = createGuardedHttp(guard);
const clips = {
  kept: createKeptStreams({ maxBytes: 1e6, now: () => now }),
  join: createJoinClip({ ffmpegPath, inTurn: withoutTurns }),
};
const ffmpeg = createFfmpegRunner({ ffmpegPath, tempDir: sharedFolder() });
const capturer = createStreamCapturer({ guard, http, ffmpeg, now: () => now, clips });

async function clip(url: string, afterSeconds: number, more: Partial<ClipRequest> = {}) {
  let film = new Uint8Array();
  const store = async (stored: Uint8Array) => void (film = new Uint8Array(stored));
  const span = { from: addSeconds(now, -8), openedAt: now, to: addSeconds(now, afterSeconds) };
  const request = { url, caller: 'ada', mode: 'frames', regions: null, store, ...span } as const;
  const result = await capturer.clip?.({ ...request, ...more }, AbortSignal.timeout(20_000));
  if (result?.kind !== 'clip') return { result, shown: [], seconds: 0 };
  expect(film).toHaveLength(result.bytes);
  const seconds = (result.to.getTime() - result.from.getTime()) / 1000;
  return { result, shown: await readFilm(film), seconds };
}

async function servesAt(path: string, answer: Parameters<typeof servePictures>[0]) {
  const server = await servePictures(answer);
  onTestFinished(() => server.close());
  return server.url(path);
}

async function serveTs(options: Parameters<typeof record>[0]) {
  const { segments } = await record(options);
  return servesAt('/live', {
    '/live': (response) => {
      response.writeHead(200, { 'content-type': 'video/mp2t' });
      response.write(Buffer.concat(segments));
    },
  });
}

test.each([
  ['h264', 'avc1'],
  ['h265', 'hvc1'],
] as const)('endless MPEG-TS is recorded from its key frame on (%s)', async (codec, entry) => {
  const { result, shown, seconds } = await clip(await serveTs({ codec, sound: codec === 'h264' }), 4);
  expect(result).toMatchObject({ kind: 'clip', codec: entry, to: now });
  expect(seconds).toBeGreaterThanOrEqual(4);
  expect(shown.at(-1)! - shown[0]!).toBeGreaterThan(3.5);
});

test('pictures of Motion JPEG are recorded as they come, at their rate', async () => {
  const draw = async (gray: number) => {
    const color = `color=#${gray.toString(16).repeat(3)}:size=320x240:duration=1:rate=1`;
    const args = `-f lavfi -i ${color} -frames:v 1 -f image2pipe -c:v mjpeg pipe:1`.split(' ');
    return (await promisify(execFile)(ffmpegPath, args, { encoding: 'buffer' })).stdout;
  };
  const jpegs = await Promise.all([60, 120, 180, 240].map(draw));
  const url = await servesAt('/cam', { '/cam': motionJpeg(jpegs, 100, multipart) });
  const { result, shown, seconds } = await clip(url, 1);
  expect(result).toMatchObject({ kind: 'clip', codec: 'avc1' });
  expect(seconds).toBeGreaterThanOrEqual(1);
  const rounded = shown.map(Math.round);
  const pictures = rounded.filter((moment, index) => moment !== rounded[index - 1]);
  expect(pictures.slice(0, 5)).toEqual([3, 8, 13, 18, 3]);
  expect(pictures.length).toBeGreaterThan(7);
});

test.each([
  ['h264', 'avc1'],
  ['h265', 'hvc1'],
] as const)('RTSP is recorded by a host without sessions (%s)', async (codec, entry) => {
  const camera = await startCamera(await recordRtp({ codec, seconds: 8, keyFrameEvery: 20 }));
  onTestFinished(() => camera.close());
  const { result, shown, seconds } = await clip(camera.url, 3);
  expect(result).toMatchObject({ kind: 'clip', codec: entry });
  expect(seconds).toBeGreaterThanOrEqual(3);
  expect(shown.length).toBeGreaterThanOrEqual(30);
});

test('excluded regions are black in a recorded clip', async () => {
  const corners = [
    [0, 0],
    [1, 0],
    [1, 1],
    [0, 1],
  ];
  const regions = [{ mode: 'exclude' as const, points: corners }];
  const { shown } = await clip(await serveTs({ size: '320x180' }), 2, { regions });
  // Black is 2.5 s before the begin.
  expect(Math.max(...shown)).toBeLessThan(0);
});

test('a codec that is not read from packets has no clip, and neither has a single picture or a clip without an end', async () => {
  const camera = await startCamera(await recordRtp({ codec: 'mjpeg', seconds: 2 }));
  onTestFinished(() => camera.close());
  const reason = async (url: string, seconds = 3) => {
    const { result } = await clip(url, seconds);
    return result?.kind === 'none' ? result.reason : result?.kind;
  };
  expect(await reason(camera.url)).toBe('Streams of this codec have no clips');
  const jpeg = await servesAt('/a.jpg', { '/a.jpg': snapshot(Buffer.from([0xff, 0xd8, 0xff, 0xd9])) });
  expect(await reason(jpeg)).toBe('Single pictures have no clips');
  expect(await reason(await serveTs({}), 0)).toBe(
    'Clips of this stream begin with the opening: set after_seconds',
  );
});

test('a camera that ends its connection is the reason for a missing clip', async () => {
  const recording = await recordRtp({ seconds: 2, keyFrameEvery: 20 });
  const camera = await startCamera(recording, { closesAfter: recording.packets.length - 2 });
  onTestFinished(() => camera.close());
  await expect(clip(camera.url, 20)).rejects.toThrow('Failed to capture');
});

test('a clip takes a turn of ffmpeg only if it is encoded, and is no reason for a copy to wait', async () => {
  const turn = Promise.withResolvers<never>();
  const isBusy = () => Promise.reject(new MachineBusyError());
  let joining = 0;
  const inTurn: InTurn = (work) => ((joining += 1) > 1 ? isBusy() : work().finally(() => (joining -= 1)));
  const join = createJoinClip({ ffmpegPath, inTurn, inEncodingTurn: () => turn.promise });
  const film = { format: 'mpegts', toChunks: () => [new Uint8Array(188)] } as const;
  const store = async () => undefined;
  const { signal } = new AbortController();
  const encoded = join({ ...film, format: 'mjpeg' }, { regions: null, store }, signal);
  await expect(join(film, { regions: null, store }, signal)).rejects.toThrow(StreamFetchError);
  turn.reject(new MachineBusyError());
  await expect(encoded).rejects.toThrow(MachineBusyError);
});

import { Readable } from 'node:stream';
import { afterAll, afterEach, expect, test } from 'vitest';
import { createEgressGuard } from '../../../../adapters/egress/guard.ts';
import { createGuardedHttp } from '../../../../adapters/egress/guarded-http.ts';
import { createFfmpegRunner } from '../../../../adapters/media/ffmpeg/run-ffmpeg.ts';
import { createHlsCapturer } from '../../../../adapters/media/hls/capture-hls.ts';
import { indexAccessUnits } from '../../../../adapters/media/mpeg-ts/access-units.ts';
import {
  isRandomAccess,
  packetBytes,
  packetPayload,
  readPid,
  startsPayloadUnit,
} from '../../../../adapters/media/mpeg-ts/packet.ts';
import { ptsPerSecond, shiftTimestamps } from '../../../../adapters/media/mpeg-ts/pes-packet.ts';
import {
  captureTsStream,
  createUnitWatcher,
} from '../../../../adapters/media/ts-stream/capture-ts-stream.ts';
import { createWebCapturer } from '../../../../adapters/media/stream-capturer.ts';
import { NotLiveError } from '../../../../core/errors.ts';
import { thumbnail, type InputMode } from '../../../../core/records/capture.ts';
import { encodePictures, writePictures } from '../../../support/annex-b.ts';
import { ffmpegPath, readMoment, record, type RecordingOptions } from '../../../support/hls/recording.ts';
import { readFailure } from '../../../support/hls/watched-stream.ts';
import { servePictures, type PictureServer } from '../../../support/servers/pictures.ts';
import { sharedFolder } from '../../../support/runner/run-folder.ts';

/** Endless MPEG-TS over HTTP, from the recording whose brightness is its time. */

const now = new Date('2026-11-20T12:00:00Z');
const never = new AbortController().signal;
const http = createGuardedHttp(createEgressGuard({ allowRanges: ['127.0.0.0/8'] }));
const ffmpeg = createFfmpegRunner({ ffmpegPath, tempDir: sharedFolder() });
let server: PictureServer;
afterEach(() => server.close());
afterAll(() => http.close());

type Stream = { headers?: Record<string, string>; skipBytes?: number; pictureMs?: number; ends?: true };

/** Serves bytes that never end. */
async function serve(bytes: Buffer, { headers = {}, skipBytes = 0, pictureMs = 5_000, ends }: Stream = {}) {
  server = await servePictures({
    '/live': (response) => {
      response.writeHead(200, { 'content-type': 'video/mp2t', ...headers });
      response.write(bytes.subarray(skipBytes));
      if (ends) response.end();
    },
  });
  const hls = createHlsCapturer({ http, ffmpeg, now: () => now });
  const capturer = createWebCapturer({ http, ffmpeg, now: () => now, hls, pictureLimits: { pictureMs } });
  const url = server.url('/live');
  return {
    probe: () => capturer.probe(url, never, 'ada'),
    capture: (mode: InputMode = 'frames', clipSeconds = 3) =>
      capturer.capture({ url, mode, clipSeconds, caller: 'ada', resolveAgain: false }, never),
  };
}

async function recorded(options: RecordingOptions = {}): Promise<Buffer> {
  return Buffer.concat((await record(options)).segments);
}

/** Returns the stream with each packet as `change` leaves it. */
function changed(bytes: Buffer, change: (packet: Buffer) => void): Buffer {
  const copy = Buffer.from(bytes);
  for (let at = 0; at < copy.length; at += packetBytes) change(copy.subarray(at, at + packetBytes));
  return copy;
}

function clearMark(packet: Buffer): void {
  if (isRandomAccess(packet)) packet[5] = (packet[5] ?? 0) & ~0x40;
}

async function unmarkedMpeg2(seconds: number): Promise<Buffer> {
  return changed(await recorded({ codec: 'mpeg2', seconds }), clearMark);
}

test.each(['open', 'refreshed'] as const)(
  'a picture of groups of kind "%s" is whole, although no IDR picture arrives',
  async (groups) => {
    const { segments } = await record({ keyFrameSeconds: 1, groups });
    const { capture } = await serve(Buffer.concat(segments.slice(3)));
    for (const mode of ['frames', 'clip'] as const) {
      const { thumbnail: planar } = await capture(mode, 1);
      const luma = planar.subarray(0, thumbnail.width * thumbnail.height);
      expect(Math.max(...luma) - Math.min(...luma)).toBeLessThanOrEqual(4);
      expect(readMoment(planar)).toBeGreaterThan(6.7);
    }
  },
);

/** Leaves out packets of video by their number. */
function withoutPackets(bytes: Buffer, isLost: (number: number) => boolean): Buffer {
  const { video } = indexAccessUnits([bytes])!;
  let number = 0;
  const kept = Array.from({ length: bytes.length / packetBytes }, (_, index) =>
    bytes.subarray(index * packetBytes, (index + 1) * packetBytes),
  ).filter((packet) => readPid(packet) !== video.pid || !isLost(number++));
  return Buffer.concat(kept);
}

test.each(['frames', 'clip'] as const)(
  'a key frame with a hole is not shown, but the next whole one (%s)',
  async (mode) => {
    const bytes = await recorded({ keyFrameSeconds: 1, size: '640x360' });
    const { capture } = await serve(withoutPackets(bytes, (number) => number === 3));
    expect(readMoment((await capture(mode, 1)).thumbnail)).toBeGreaterThanOrEqual(0.9);
  },
);

test.each([
  ['frames', {}],
  ['clip', {}],
  ['frames', { ends: true }],
  ['clip', { ends: true }],
] as const)('a stream without a whole key frame fails as damaged (%s, %o)', async (mode, options) => {
  const bytes = await recorded({ keyFrameSeconds: 1, size: '640x360' });
  const { capture } = await serve(
    withoutPackets(bytes, (number) => number % 5 === 3),
    { pictureMs: 1_000, ...options },
  );
  const failure = await readFailure(capture(mode, 1));
  expect(failure).toMatchObject({ code: 'STREAM_FETCH_FAILED', isDamaged: true });
  expect(failure.remediation).toContain('Packets are lost');
});

test('a key frame is shown although each picture behind it has a hole, and the tables came once', async () => {
  const bytes = writePictures('H264', encodePictures('H264'));
  const { accessUnits } = indexAccessUnits([bytes])!;
  const holes = new Set(accessUnits.flatMap(({ at, isKeyFrame }) => (isKeyFrame ? [] : [at + packetBytes])));
  const tables = bytes.subarray(0, 2 * packetBytes);
  const joined = Array.from({ length: bytes.length / packetBytes }, (_, index) => index * packetBytes)
    .filter((at) => at >= accessUnits[5]!.at && !holes.has(at))
    .map((at) => bytes.subarray(at, at + packetBytes));
  const { capture } = await serve(Buffer.concat([tables, ...joined]));
  expect((await capture()).frame.length).toBeGreaterThan(1000);
});

test('a stream of which no key frame arrives whole says that packets are lost, also if none arrives in time', async () => {
  const bytes = writePictures('H264', encodePictures('H264'));
  const left = withoutPackets(bytes, (number) => number % 9 === 3);
  const { capture } = await serve(left, { pictureMs: 300 });
  await expect(capture()).rejects.toMatchObject({ isDamaged: true });
});

test('a picture of intra refresh is awaited until it is whole', async () => {
  const { segments } = await record({ keyFrameSeconds: 1, groups: 'refreshed' });
  const bytes = segments[3]!;
  const { accessUnits } = indexAccessUnits([bytes])!;
  const watcher = createUnitWatcher();
  const heard = accessUnits.slice(0, 12).map(({ at }, index) => {
    // A packet is read with the next one.
    watcher.push(bytes.subarray(accessUnits[index - 1]?.at ?? 0, at));
    return watcher.hasKeyFrame();
  });
  expect(heard.indexOf(true)).toBe(10);
});

test.each(['h264', 'h265'] as const)(
  'the newest key frame of %s that has arrived is the frame',
  async (codec) => {
    const { segments } = await record({ codec });
    const { probe, capture } = await serve(Buffer.concat(segments.slice(0, 2)));
    expect(await probe()).toEqual({ platform: 'mpegts', playbackUrl: server.url('/live') });
    const captured = await capture();
    expect(readMoment(captured.thumbnail)).toBeCloseTo(2, 0);
    expect(captured).toMatchObject({ capturedAt: now, position: { segment: null } });
  },
);

test('a stream that is joined within a packet and a group is captured from its next key frame', async () => {
  const { segments } = await record();
  const bytes = Buffer.concat(segments.slice(0, 2));
  const { capture } = await serve(bytes, { skipBytes: 3 * packetBytes + 100 });
  expect(readMoment((await capture()).thumbnail)).toBeCloseTo(2, 0);
});

test('a clip has its seconds from a key frame on, and its frame is the newest', async () => {
  const { capture } = await serve(await recorded());
  const { clip, thumbnail } = await capture('hybrid', 3);
  expect(clip!.length).toBeGreaterThan(1_000);
  expect(readMoment(thumbnail)).toBeGreaterThan(2.5);
});

test('timestamps that wrap at 33 bits within a clip change nothing', async () => {
  const wrapping = changed(await recorded(), (packet) => {
    // The recording begins at 1.4 s.
    if (startsPayloadUnit(packet)) shiftTimestamps(packetPayload(packet), 2 ** 33 - 3 * ptsPerSecond);
  });
  const { capture } = await serve(wrapping);
  const { clip, thumbnail } = await capture('hybrid', 3);
  expect(clip!.length).toBeGreaterThan(1_000);
  expect(readMoment(thumbnail)).toBeGreaterThan(2.5);
  expect(readMoment((await capture()).thumbnail)).toBeGreaterThanOrEqual(0);
});

test.each(['h264', 'h265'] as const)(
  'a key frame of %s that the server does not mark is found',
  async (codec) => {
    const { segments } = await record({ codec });
    const unmarked = changed(Buffer.concat(segments.slice(0, 2)), clearMark);
    const { capture } = await serve(unmarked, { pictureMs: 3_000 });
    expect(readMoment((await capture()).thumbnail)).toBeCloseTo(2, 0);
    expect(readMoment((await capture('hybrid', 1)).thumbnail)).toBeGreaterThan(0.5);
  },
);

test.each(['frames', 'hybrid'] as const)(
  'a picture of mode %s is searched by the decoder after 8 s of MPEG-2, whose slices are not read, without a mark',
  async (mode) => {
    const { capture } = await serve(await unmarkedMpeg2(16), { pictureMs: 3_000 });
    const { thumbnail, clip } = await capture(mode, 3);
    expect(readMoment(thumbnail)).toBeGreaterThan(7);
    expect(clip !== undefined).toBe(mode === 'hybrid');
  },
);

test.each(['frames', 'clip'] as const)(
  'a key frame for mode %s is awaited for longer than 8 s, because its slices are read',
  async (mode) => {
    const { segments } = await record({ seconds: 18, keyFrameSeconds: 14 });
    const chunks = Readable.from(segments.slice(1));
    const stream = { content: 'mpeg-ts', headers: {}, chunks, close: () => undefined } as const;
    const request = { url: '', mode, clipSeconds: 3, caller: 'ada', resolveAgain: false };
    const { thumbnail } = await captureTsStream(
      stream,
      request,
      { ffmpeg, now: () => now, elapsedMs: () => 0 },
      never,
    );
    expect(readMoment(thumbnail)).toBeGreaterThan(13.5);
  },
);

test('less than 8 s of MPEG-2 without a mark is not decoded', async () => {
  const { capture } = await serve(await unmarkedMpeg2(6), { pictureMs: 300 });
  expect((await readFailure(capture())).remediation).toContain('No key frame arrived in time');
});

test('a response with a length is a file', async () => {
  const bytes = await recorded();
  const { probe } = await serve(bytes, { headers: { 'content-length': `${bytes.length}` } });
  const failure = await readFailure(probe());
  expect(failure).toBeInstanceOf(NotLiveError);
  expect(failure.remediation).toContain('a video file');
});

test('a stream without video is named in time', async () => {
  const nulls = changed(await recorded(), (packet) => {
    if (readPid(packet) !== 0) packet.writeUInt16BE(0x1fff, 1);
  });
  const { probe } = await serve(nulls, { pictureMs: 300 });
  expect((await readFailure(probe())).remediation).toContain('no video of one program');
});

test('a stream without the rest of its key frame is named in time', async () => {
  const { capture } = await serve((await recorded()).subarray(0, 6 * packetBytes), { pictureMs: 300 });
  expect((await readFailure(capture())).remediation).toContain('No key frame arrived in time');
});

test('a stream that never has a key frame ends at its maximum size', async () => {
  const [segment] = (await record()).segments;
  const start = segment!.subarray(0, 3 * packetBytes);
  const endless = Buffer.alloc(33 * 1024 * 1024 - ((33 * 1024 * 1024) % packetBytes));
  const filler = changed(Buffer.alloc(packetBytes), (packet) => {
    packet.set([0x47, 0x1f, 0xff, 0x10]);
  });
  for (let at = 0; at < endless.length; at += packetBytes) endless.set(filler, at);
  const { capture } = await serve(Buffer.concat([start, endless]));
  expect((await readFailure(capture())).remediation).toContain('sent 32 MB');
});

import { execFile } from 'node:child_process';
import { createCipheriv, randomBytes } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import type { IncomingHttpHeaders } from 'node:http';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { describe, expect, onTestFinished, test } from 'vitest';
import { createImageDecoder } from '../../../../adapters/media/ffmpeg/decode-image.ts';
import { indexAccessUnits } from '../../../../adapters/media/mpeg-ts/access-units.ts';
import { packetBytes, readPid } from '../../../../adapters/media/mpeg-ts/packet.ts';
import { readJpegHeader } from '../../../../core/stream/jpeg.ts';
import { thumbnail, type Capture } from '../../../../core/records/capture.ts';
import { ffmpegPath, readMoment, record } from '../../../support/hls/recording.ts';
import {
  mediaPlaylist,
  readFailure,
  watchFiles,
  type WatchedStream,
} from '../../../support/hls/watched-stream.ts';
import { sharedFolder } from '../../../support/runner/run-folder.ts';

async function watch(...files: Parameters<typeof watchFiles>): Promise<WatchedStream> {
  const watched = await watchFiles(...files);
  onTestFinished(() => watched.close());
  return watched;
}

type Encoding = { source?: string; codec: string; isTs?: boolean; seconds?: number; output?: string };

/** Brightness is 30 + 12 for each second. */
const clock = `nullsrc=size=160x90:rate=10,format=yuv420p,geq=lum='30+12*T':cb=128:cr=128`;
const x264 = 'libx264 -preset ultrafast -g 20 -sc_threshold 0 -qp 12';

const av1 = 'libaom-av1 -cpu-used 8 -usage realtime -g 20 -threads 1';

/** Returns segments of 2 s, and the media initialization section of fMP4. */
async function encode({ source = clock, codec, isTs = false, seconds = 4, output = '' }: Encoding) {
  return segment(source, `-c:v ${codec} -t ${seconds} ${output}`, isTs ? 'mpegts' : 'fmp4');
}

async function encodeSound(type: string) {
  return segment('sine', '-c:a aac -t 6', type);
}

async function segment(source: string, options: string, type: string) {
  const folder = await mkdtemp(join(sharedFolder(), 'odd-'));
  const words = `${options} -f hls -hls_time 2 -hls_list_size 0 -hls_segment_type ${type} -hls_fmp4_init_filename init.mp4`;
  const args = [
    '-nostdin',
    '-loglevel',
    'error',
    '-f',
    'lavfi',
    '-i',
    source,
    ...words.split(' ').filter(Boolean),
  ];
  const files = ['-hls_segment_filename', join(folder, '%03d.seg'), join(folder, 'list.m3u8')];
  await promisify(execFile)(ffmpegPath, [...args, ...files], { cwd: folder });
  const names = (await readdir(folder)).filter((name) => name.endsWith('.seg')).toSorted();
  const segments = await Promise.all(names.map((name) => readFile(join(folder, name))));
  const initialization = type === 'fmp4' ? await readFile(join(folder, 'init.mp4')) : null;
  await rm(folder, { recursive: true });
  return { segments, initialization };
}

/** Serves segments as a live playlist. */
async function serve({ segments, initialization }: { segments: Buffer[]; initialization: Buffer | null }) {
  const suffix = initialization ? 'm4s' : 'ts';
  const lines = segments.map((_, index) => `${index}.${suffix}`);
  return watch({
    ...Object.fromEntries(segments.map((bytes, index) => [`/${index}.${suffix}`, bytes])),
    ...(initialization && { '/init.mp4': initialization }),
    '/live.m3u8': mediaPlaylist([...(initialization ? ['#EXT-X-MAP:URI="init.mp4"'] : []), ...lines]),
  });
}

/** Mean brightness of a part of a thumbnail, by shares of its width and height. */
function brightness(
  { thumbnail: planar }: Capture,
  [left, top, right, bottom]: [number, number, number, number],
): number {
  let [sum, count] = [0, 0];
  for (let y = Math.floor(top * thumbnail.height); y < bottom * thumbnail.height; y += 1)
    for (let x = Math.floor(left * thumbnail.width); x < right * thumbnail.width; x += 1, count += 1)
      sum += planar[y * thumbnail.width + x]!;
  return sum / count;
}

describe('segments of which packets are missing', () => {
  /** Leaves out a packet of each key frame. */
  function damage(bytes: Buffer): Buffer {
    const { accessUnits, video } = indexAccessUnits([bytes])!;
    const lost = accessUnits
      .filter(({ isKeyFrame }) => isKeyFrame)
      .map(({ at }) => {
        const next = (from: number): number =>
          readPid(bytes, from) === video.pid ? from : next(from + packetBytes);
        return next(at + packetBytes);
      });
    const kept = Array.from({ length: bytes.length / packetBytes }, (_, index) => index * packetBytes);
    return Buffer.concat(
      kept.filter((at) => !lost.includes(at)).map((at) => bytes.subarray(at, at + packetBytes)),
    );
  }

  async function watchDamaged(numbers: readonly number[]) {
    const { segments } = await record({ size: '640x360' });
    const files = segments.map((bytes, index) => [
      `/${index}.ts`,
      numbers.includes(index) ? damage(bytes) : bytes,
    ]);
    const names = segments.slice(0, 4).map((_, index) => `${index}.ts`);
    return watch({ ...Object.fromEntries(files), '/live.m3u8': mediaPlaylist(names) });
  }

  test('the key frame of an earlier segment is shown if that of the newest one has a hole', async () => {
    expect(await (await watchDamaged([3])).moment('/live.m3u8')).toBeCloseTo(4, 0);
  });

  test.each(['frames', 'clip'] as const)(
    'a stream without a whole key frame fails as damaged (%s)',
    async (mode) => {
      const watched = await watchDamaged([0, 1, 2, 3]);
      const failure = await readFailure(watched.capture('/live.m3u8', { mode, clipSeconds: 2 }));
      expect(failure).toMatchObject({ code: 'STREAM_FETCH_FAILED', isDamaged: true });
      expect(failure.remediation).toContain('Packets are lost');
    },
  );
});

describe('codecs', () => {
  test.each([
    ['AV1', { codec: av1 }],
    ['VP9', { codec: 'libvpx-vp9 -deadline realtime -cpu-used 8 -g 20', output: '-strict experimental' }],
    ['H.264 of 4:2:2', { codec: `${x264} -pix_fmt yuv422p` }],
    ['H.264 of 10 bit', { codec: `${x264} -pix_fmt yuv420p10le`, isTs: true }],
    [
      'H.264, interlaced',
      { codec: `${x264} -flags +ildct+ilme`, source: `${clock},scale=160:96`, isTs: true },
    ],
    ['MPEG-2', { codec: 'mpeg2video -g 20 -q:v 2 -sc_threshold 1000000000', isTs: true }],
  ])('a frame and a clip of %s are captured', async (_name, encoding) => {
    const stream = await serve(await encode(encoding));
    expect(await stream.moment('/live.m3u8')).toBeCloseTo(2, 0);
    const { clip, thumbnail: newest } = await stream.capture('/live.m3u8', { mode: 'clip', clipSeconds: 1 });
    expect(clip!.length).toBeGreaterThan(1_000);
    expect(readMoment(newest)).toBeGreaterThan(3.5);
  });
});

test('a scan of AV1 dates its key frames', async () => {
  const { segments, initialization } = await encode({ codec: av1, seconds: 6 });
  const stream = await serve({ segments, initialization });
  const { scan } = await stream.capture('/live.m3u8', {
    lookBack: { since: `- ? ${stream.now.getTime() - 5_000}` },
  });
  expect(scan!.frames.map(({ thumbnail }) => Math.round(readMoment(thumbnail)))).toEqual([0, 2]);
});

describe('pictures', () => {
  /** Writes a display matrix that rotates clockwise by 90 degrees into a track header. */
  function rotate(initialization: Buffer): Buffer {
    const rotated = Buffer.from(initialization);
    const matrixAt = rotated.indexOf('tkhd') + 4 + 40;
    for (const [index, value] of [0, 0x10000, 0, -0x10000, 0, 0, 0, 0, 0x40000000].entries())
      rotated.writeInt32BE(value, matrixAt + 4 * index);
    return rotated;
  }

  test('a rotated video is shown upright', async () => {
    // White on the left is white at the top after the rotation.
    const source =
      "nullsrc=size=160x90:rate=10,format=yuv420p,geq=lum='if(lt(X\\,80)\\,220\\,40)':cb=128:cr=128";
    const { segments, initialization } = await encode({ source, codec: x264 });
    const stream = await serve({ segments, initialization: rotate(initialization!) });
    for (const mode of ['frames', 'clip'] as const) {
      const capture = await stream.capture('/live.m3u8', { mode, clipSeconds: 1 });
      expect(readJpegHeader(capture.frame)).toMatchObject({ width: 90, height: 160 });
      expect(brightness(capture, [0, 0, 1, 0.4])).toBeGreaterThan(190);
      expect(brightness(capture, [0, 0.6, 1, 1])).toBeLessThan(60);
    }
  });
});

describe('changes within a stream', () => {
  const changes = ['320x180', '640x360'].map((size) => ({
    source: `${clock},scale=${size.replace('x', ':')},setsar=1`,
  }));

  test('a change of the resolution without a discontinuity is followed', async () => {
    const [small, large] = await Promise.all(
      changes.map((change) => encode({ ...change, codec: x264, isTs: true })),
    );
    const stream = await serve({ segments: [...small!.segments, ...large!.segments], initialization: null });
    const sizes: unknown[] = [];
    for (const mode of ['frames', 'clip', 'hybrid'] as const) {
      const { frame } = await stream.capture('/live.m3u8', { mode, clipSeconds: 3 });
      sizes.push(readJpegHeader(frame));
    }
    for (const size of sizes) expect(size).toMatchObject({ width: 640, height: 360 });
  });

  test('a clip that ends after a change of the resolution begins with it', async () => {
    const [small, large] = await Promise.all(
      changes.map((change) => encode({ ...change, codec: x264, isTs: true })),
    );
    const segments = [...small!.segments, large!.segments[0]!];
    const stream = await serve({ segments, initialization: null });
    const { frame, clip, thumbnail } = await stream.capture('/live.m3u8', { mode: 'hybrid', clipSeconds: 3 });
    expect(readJpegHeader(frame)).toMatchObject({ width: 640, height: 360 });
    expect(readMoment(thumbnail)).toBeGreaterThan(1.7);
    const decoder = createImageDecoder({ ffmpegPath });
    const frames = await decoder.decodeClip(clip!, { width: 32, height: 18 }, 5, AbortSignal.timeout(10_000));
    expect(frames).toHaveLength(10);
  });

  test.each([
    ['H.264', x264, 'h264'],
    ['H.265', 'libx265 -preset ultrafast -x265-params log-level=none:keyint=20', 'hevc'],
  ])('a clip of %s keeps the frames before a change of the level alone', async (_, codec, name) => {
    const [low, high] = await Promise.all(
      [3, 4].map((level, index) =>
        encode({
          codec,
          isTs: true,
          output: `-bsf:v ${name}_metadata=level=${level} -output_ts_offset ${index * 4}`,
        }),
      ),
    );
    const stream = await serve({ segments: [...low!.segments, high!.segments[0]!], initialization: null });
    const { clip } = await stream.capture('/live.m3u8', { mode: 'hybrid', clipSeconds: 3 });
    const decoder = createImageDecoder({ ffmpegPath });
    const frames = await decoder.decodeClip(clip!, { width: 32, height: 18 }, 5, AbortSignal.timeout(10_000));
    expect(frames).toHaveLength(15);
  });

  test('a server that numbers the segments of each viewer from 0 has a new position in each session, also if the newest one is empty', async () => {
    const { segments } = await record();
    const stream = await watch({ '/1/segment.ts': segments[0]!.subarray(0, 3 * 188) });
    const read = async (session: string, segment: Buffer) => {
      stream.files['/master.m3u8'] = `#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=192000\nlive.m3u8?id=${session}`;
      stream.files['/live.m3u8'] = mediaPlaylist([0, 1].map((n) => `${n}/segment.ts?id=${session}`));
      stream.files['/0/segment.ts'] = segment;
      const captures = (['frames', 'clip'] as const).map((mode) =>
        stream.capture('/master.m3u8', { mode, resolveAgain: true }),
      );
      return (await Promise.all(captures)).map(({ position }) => position.segment);
    };
    const first = await read('a', segments[3]!);
    expect(await read('a', segments[3]!)).toEqual(first);
    const later = await read('b', segments[5]!);
    for (const [index, position] of later.entries()) expect(position).not.toBe(first[index]);
  });

  test('a change of the codec without a discontinuity is followed', async () => {
    const [h264, h265] = await Promise.all([
      encode({ codec: x264, isTs: true }),
      encode({ codec: 'libx265 -preset ultrafast -x265-params log-level=none:keyint=20', isTs: true }),
    ]);
    for (const [before, after] of [
      [h264, h265],
      [h265, h264],
    ] as const) {
      const stream = await serve({ segments: [...before.segments, ...after.segments], initialization: null });
      for (const mode of ['frames', 'clip'] as const) {
        const capture = await stream.capture('/live.m3u8', { mode, clipSeconds: 3 });
        expect(readMoment(capture.thumbnail)).toBeGreaterThan(mode === 'clip' ? 3.5 : 1.9);
      }
    }
  });

  test('timestamps that wrap at 33 bits change nothing', async () => {
    // They wrap after 95443.7 s, in the second segment.
    const segments = await encode({
      codec: x264,
      isTs: true,
      output: '-output_ts_offset 95440.2 -muxdelay 0',
    });
    const stream = await serve(segments);
    expect(await stream.moment('/live.m3u8')).toBeCloseTo(2, 0);
    const { thumbnail: newest } = await stream.capture('/live.m3u8', { mode: 'clip', clipSeconds: 3 });
    expect(readMoment(newest)).toBeGreaterThan(3.5);
  });
});

test.each([
  ['MPEG-TS', 'mpegts', 5],
  ['fMP4', 'fmp4', 5],
  ['MPEG-TS that lists one short segment', 'mpegts', 1],
])('sound only is named without a wait (%s)', async (_kind, type, listed) => {
  const sound = await encodeSound(type);
  const stream = await serve({ ...sound, segments: sound.segments.slice(0, listed) });
  if (listed === 1) stream.files['/live.m3u8'] = mediaPlaylist(['#EXTINF:1.0,', '0.ts']);
  for (const mode of ['frames', 'clip'] as const) {
    stream.requests.length = 0;
    const error = await readFailure(stream.capture('/live.m3u8', { mode }));
    expect(error.remediation).toContain('sound only');
    expect(stream.requests.filter((path) => path.includes('.m3u8')).length).toBeLessThanOrEqual(2);
  }
});

test('packed audio is named as sound only', async () => {
  const stream = await serve({ segments: [Buffer.from('ID3'.padEnd(400, '.'))], initialization: null });
  const error = await readFailure(stream.capture('/live.m3u8'));
  expect(error.remediation).toContain('sound only');
});

describe('servers', () => {
  test('a playlist with a byte order mark, gzip and keys that rotate is captured', async () => {
    const { segments } = await record();
    const keys = [randomBytes(16), randomBytes(16)];
    const encrypted = segments.slice(0, 4).map((bytes, index) => {
      const iv = Buffer.alloc(16);
      iv.writeUInt32BE(index, 12);
      const cipher = createCipheriv('aes-128-cbc', keys[index % 2]!, iv);
      return Buffer.concat([cipher.update(bytes), cipher.final()]);
    });
    const lines = encrypted.flatMap((_, index) => [
      `#EXT-X-KEY:METHOD=AES-128,URI="/key${index % 2}"`,
      '#EXTINF:2.0,',
      `${index}.ts`,
    ]);
    const stream = await watch({
      ...Object.fromEntries(encrypted.map((bytes, index) => [`/${index}.ts`, bytes])),
      ...Object.fromEntries(keys.map((key, index) => [`/key${index}`, key])),
      '/live.m3u8': {
        body: gzipSync(`\u{feff}${mediaPlaylist(lines)}`),
        headers: { 'content-encoding': 'gzip' },
      },
    });
    expect(await stream.moment('/live.m3u8')).toBeCloseTo(6, 0);
    const { thumbnail: newest } = await stream.capture('/live.m3u8', { mode: 'clip', clipSeconds: 3 });
    expect(readMoment(newest)).toBeGreaterThan(7.5);
  });

  test('cookies of a redirect and of a playlist are sent with later requests, as they change', async () => {
    const { segments } = await record();
    let session = 0;
    const seen: (string | undefined)[] = [];
    const needs = (body: Buffer | string, cookie: () => string) => (headers: IncomingHttpHeaders) => {
      seen.push(headers.cookie);
      return headers.cookie?.includes(cookie()) ? { body } : { body: '', status: 403 };
    };
    const stream = await watch({
      '/live.m3u8': {
        body: '',
        status: 302,
        headers: { location: '/edge/live.m3u8', 'set-cookie': 'edge=7; Path=/edge' },
      },
      '/edge/live.m3u8': (headers) =>
        headers.cookie?.startsWith('edge=7')
          ? {
              body: mediaPlaylist(['/edge/1.ts']),
              headers: { 'set-cookie': `session=${(session += 1)}; Max-Age=60; HttpOnly` },
            }
          : { body: '', status: 403 },
      '/edge/1.ts': needs(segments[1]!, () => `session=${session}`),
    });
    for (let capture = 1; capture <= 2; capture += 1) {
      expect(await stream.moment('/live.m3u8')).toBeCloseTo(2, 0);
      expect(seen.at(-1)).toBe(`edge=7; session=${capture}`);
    }
  });
});

import { execFile } from 'node:child_process';
import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, test } from 'vitest';
import { captureArguments } from '../../../../adapters/media/ffmpeg/capture-arguments.ts';
import { createImageDecoder } from '../../../../adapters/media/ffmpeg/decode-image.ts';
import { NoFrameDecodedError } from '../../../../adapters/media/ffmpeg/errors.ts';
import { createFfmpegRunner, type FfmpegRunner } from '../../../../adapters/media/ffmpeg/run-ffmpeg.ts';
import { indexAccessUnits } from '../../../../adapters/media/mpeg-ts/access-units.ts';
import { packetBytes, packetPayload } from '../../../../adapters/media/mpeg-ts/packet.ts';
import { thumbnail, type InputMode } from '../../../../core/records/capture.ts';
import { StreamFetchError } from '../../../../core/errors.ts';
import { encodePictures, writePictures } from '../../../support/annex-b.ts';
import { ffmpegPath, readMoment, record, type Recording } from '../../../support/hls/recording.ts';
import { folderOfTest, folderOfFile } from '../../../support/temporary-folder.ts';
import { jpegSize } from '../../../support/hls/jpeg-size.ts';

const never = new AbortController().signal;
const limits = { timeoutMs: 20_000 };
let recording: Recording;
const tempDir = folderOfFile();
let runner: FfmpegRunner;

beforeAll(async () => {
  recording = await record({ seconds: 6 });
  runner = createFfmpegRunner({ ffmpegPath, tempDir });
});

function run(chunks: Uint8Array[], mode: InputMode, seconds?: number, clipSeconds = 3) {
  const input = {
    kind: 'pipe' as const,
    format: 'mpegts' as const,
    chunks,
    ...(seconds === undefined ? {} : { seconds }),
  };
  return runner.run(input, { mode, clipSeconds }, limits, never);
}

describe('a hole of which the decoder of H.265 says nothing', () => {
  const pictures = encodePictures('H265');
  const without = (index: number, slice: number) =>
    pictures.with(index, pictures[index]!.toSpliced(pictures[index]!.length - 4 + slice, 1));

  test.each([1, 2, 3])('slice %i of a key frame is missing: nothing is shown', async (slice) => {
    const bytes = writePictures('H265', without(0, slice));
    await expect(run([bytes], 'frames')).rejects.toMatchObject({ isDamaged: true });
    await expect(run([bytes], 'clip', 2, 1)).rejects.toMatchObject({ isDamaged: true });
    const input = { kind: 'pipe' as const, format: 'mpegts' as const, chunks: [bytes] };
    expect(await runner.runAll(input, {}, limits, never)).toHaveLength(1);
  });

  test.each([
    ['ends', 'H265', 'exit 1', true],
    ['ends', 'H264', 'exit 1', false],
    ['is killed', 'H265', 'kill -9 $$', false],
  ] as const)(
    'ffmpeg 5 %s without a word at pictures of %s (%s): damage is %s',
    async (_how, codec, ends, isDamaged) => {
      const silentPath = join(folderOfTest(), 'silent');
      await writeFile(silentPath, `#!/bin/sh\ncat > /dev/null\n${ends}\n`, { mode: 0o755 });
      const silent = createFfmpegRunner({ ffmpegPath: silentPath, tempDir });
      const chunks = [writePictures(codec, encodePictures(codec))];
      const input = { kind: 'pipe' as const, format: 'mpegts' as const, chunks };
      const capture = silent.run(input, { mode: 'clip', clipSeconds: 1 }, limits, never);
      await expect(capture).rejects.toMatchObject({ isDamaged });
    },
  );

  test('a picture is missing to which others refer: no clip is shown', async () => {
    const bytes = writePictures('H265', pictures.with(14, []));
    await expect(run([bytes], 'clip', 2, 1)).rejects.toMatchObject({ isDamaged: true });
    expect((await run([bytes], 'frames')).frame.length).toBeGreaterThan(1000);
  });
});

describe('a stream at which a strict decoder stops although its pictures are whole', () => {
  const oddInformation = {
    H264: Buffer.of(6, 5, 255, 255, 7, 1, 0x80),
    H265: Buffer.of(78, 1, 5, 255, 255, 7, 1, 0x80),
  };

  test.each(['H264', 'H265'] as const)('information of %s that cannot be read is left out', async (codec) => {
    const pictures = encodePictures(codec).map((units) => units.toSpliced(-4, 0, oddInformation[codec]));
    const bytes = writePictures(codec, pictures);
    for (const mode of ['frames', 'clip'] as const)
      expect((await run([bytes], mode, 2, 1)).frame.length).toBeGreaterThan(1000);
  });

  test.each([40, 65_535])('a length of %i in each PES packet says nothing', async (length) => {
    const bytes = writePictures('H265', encodePictures('H265'));
    for (const { at } of indexAccessUnits([bytes])!.accessUnits)
      packetPayload(bytes.subarray(at, at + packetBytes)).set([length >> 8, length & 0xff], 4);
    for (const mode of ['frames', 'clip'] as const)
      expect((await run([bytes], mode, 2, 1)).frame.length).toBeGreaterThan(1000);
  });
});

describe('the time of a capture', () => {
  /** Runs a program that always fails like a decoder. Returns how often it was started. */
  async function countRuns(spentMs: number): Promise<number> {
    const path = folderOfTest();
    const failing = join(path, 'ffmpeg');
    await writeFile(
      failing,
      `#!/bin/sh\necho run >> ${path}/log\ncat > /dev/null\necho '[h264 @ 1] odd' >&2\nexit 1\n`,
      { mode: 0o755 },
    );
    let nowMs = 0;
    const elapsedMs = () => (nowMs += spentMs);
    const failingRunner = createFfmpegRunner({ ffmpegPath: failing, tempDir: path, elapsedMs });
    const information = Buffer.of(6, 5, 1, 1, 0x80);
    const pictures = encodePictures('H264').map((units) => units.toSpliced(-4, 0, information));
    const chunks = [writePictures('H264', pictures)];
    const input = { kind: 'pipe' as const, format: 'mpegts' as const, chunks };
    await expect(
      failingRunner.run(input, { mode: 'clip', clipSeconds: 1 }, limits, never),
    ).rejects.toBeInstanceOf(NoFrameDecodedError);
    return (await readFile(join(path, 'log'), 'utf8')).trim().split('\n').length;
  }

  test('all runs of one share its time', async () => {
    expect(await countRuns(1)).toBe(3);
    expect(await countRuns(limits.timeoutMs / 2 + 1)).toBe(2);
    expect(await countRuns(limits.timeoutMs)).toBe(1);
  });
});

describe('frame', () => {
  test('a frame is the last key frame, and its thumbnail shows the same moment', async () => {
    const pictures = await run(recording.segments, 'frames');
    expect(pictures.thumbnail.length).toBe(thumbnail.bytes);
    expect(readMoment(pictures.thumbnail)).toBeCloseTo(4, 0);
    expect(await momentOfJpeg(pictures.frame)).toBeCloseTo(readMoment(pictures.thumbnail), 0);
    expect(pictures.clip).toBeUndefined();
  });

  test('a frame is never upscaled', async () => {
    expect(jpegSize((await run(recording.segments, 'frames')).frame)).toEqual({ width: 160, height: 90 });
  });

  test.each([
    ['1280x720', { width: 896, height: 504 }],
    ['720x1280', { width: 720, height: 1280 }],
    ['1000x562', { width: 896, height: 504 }],
  ])('a frame of a stream of %s is at most 896 pixels wide and has even sides', async (size, expected) => {
    const { segments } = await record({ size, seconds: 1 });
    expect(jpegSize((await run(segments, 'frames')).frame)).toEqual(expected);
  });

  test('a frame can come from fMP4', async () => {
    const { segments, initialization } = await record({ segmentType: 'fmp4', seconds: 4 });
    const input = { kind: 'pipe' as const, format: 'mov' as const, chunks: [initialization!, segments[1]!] };
    const pictures = await runner.run(input, { mode: 'frames', clipSeconds: 3 }, limits, never);
    expect(readMoment(pictures.thumbnail)).toBeCloseTo(2, 0);
  });
});

describe('clip', () => {
  test('a clip is H.264 from the end of the segments, and its evidence frame is its last frame', async () => {
    const pictures = await run(recording.segments, 'clip', 6);
    const frames = await momentsOfClip(pictures.clip!);
    expect(frames.length).toBe(15);
    expect(frames[0]).toBeCloseTo(3, 0);
    expect(frames.at(-1)).toBeGreaterThan(5.5);
    expect(readMoment(pictures.thumbnail)).toBeGreaterThan(5.5);
    expect(await momentOfJpeg(pictures.frame)).toBeCloseTo(readMoment(pictures.thumbnail), 0);
  });

  test('a clip starts with its index, and its temporary file is deleted', async () => {
    const { clip } = await run(recording.segments, 'hybrid', 6);
    const bytes = Buffer.from(clip!);
    expect(bytes.indexOf('moov')).toBeLessThan(bytes.indexOf('mdat'));
    expect(await readdir(tempDir)).toEqual([]);
  });

  test('a clip is shorter if the stream is shorter', async () => {
    const pictures = await run(recording.segments.slice(0, 1), 'clip', 2);
    expect((await momentsOfClip(pictures.clip!)).length).toBe(10);
    expect(readMoment(pictures.thumbnail)).toBeGreaterThan(1.5);
  });

  test('a clip of a stream that ends before the time of its playlist shows its last frame as evidence', async () => {
    const pictures = await run(recording.segments, 'clip', 8);
    const moments = await momentsOfClip(pictures.clip!);
    expect(moments.at(-1)).toBeGreaterThan(5.5);
    expect(readMoment(pictures.thumbnail)).toBeCloseTo(moments.at(-1)!, 0);
    expect(readMoment(pictures.thumbnail)).toBeGreaterThan(5.5);
  });

  test('a clip of segments that begin between key frames contains every decodable frame', async () => {
    const { segments } = await record({ keyFrameSeconds: 6, seconds: 8 });
    const pictures = await run(segments.slice(2), 'clip', 4);
    const moments = await momentsOfClip(pictures.clip!);
    expect(moments[0]).toBeCloseTo(6, 0);
    expect(moments.length).toBeGreaterThan(8);
    expect(readMoment(pictures.thumbnail)).toBeGreaterThan(7.5);
  });

  test('a clip is at most 672 pixels wide and its frame 896', async () => {
    const { segments } = await record({ size: '1280x720', seconds: 1 });
    const pictures = await run(segments, 'clip', 1, 1);
    expect(jpegSize(pictures.frame).width).toBe(896);
    expect(await videoSize(pictures.clip!)).toBe('672x378');
  });

  test('a clip of ten seconds takes as much memory as one of a second', async () => {
    const file = join(tempDir, 'large.mp4');
    const source = ['-f', 'lavfi', '-i', 'testsrc=size=2560x1440:rate=2', '-t', '10'];
    const encoding = ['-c:v', 'libx264', '-preset', 'ultrafast', '-pix_fmt', 'yuv420p'];
    await promisify(execFile)(ffmpegPath, [...source, ...encoding, file]);
    const [short, long] = [await readMemoryKb(file, 1), await readMemoryKb(file, 10)];
    await rm(file);
    const frameKb = (2560 * 1440 * 1.5) / 1024;
    expect(long - short).toBeLessThan(5 * frameKb);
  });

  test('concurrent captures return their own clips', async () => {
    const [early, late] = await Promise.all([
      run(recording.segments.slice(0, 1), 'clip', 2, 2),
      run(recording.segments.slice(2), 'clip', 2, 2),
    ]);
    expect((await momentsOfClip(early.clip!)).at(-1)).toBeLessThan(2.2);
    expect((await momentsOfClip(late.clip!))[0]).toBeGreaterThan(3.8);
  });
});

describe('hostile and broken input', () => {
  test.each([
    ['frames', 'Failed to capture frame from stream'],
    ['clip', 'Failed to capture video clip from stream'],
    ['hybrid', 'Failed to capture video clip from stream'],
  ] as const)('input without video is reported as undecodable in mode %s', async (mode, message) => {
    const failure = await run([Buffer.alloc(10_000, 'no video')], mode).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(NoFrameDecodedError);
    expect(failure).toMatchObject({ code: 'STREAM_FETCH_FAILED', message });
  });

  test('input of another format than declared is not decoded', async () => {
    const { clip } = await run(recording.segments.slice(0, 1), 'clip', 2, 2);
    await expect(run([clip!], 'frames')).rejects.toBeInstanceOf(NoFrameDecodedError);
  });

  test('empty input is reported as undecodable', async () => {
    await expect(run([], 'frames')).rejects.toBeInstanceOf(NoFrameDecodedError);
  });

  test('input that is cut within a GOP returns the previous key frame', async () => {
    const cut = Buffer.concat(recording.segments.slice(0, 2)).subarray(0, -2000);
    expect(readMoment((await run([cut], 'frames')).thumbnail)).toBeCloseTo(2, 0);
  });

  test('endless input is killed at the timeout', async () => {
    const input = { kind: 'pipe' as const, format: 'mpegts' as const, chunks: endless() };
    const failure = runner.run(input, { mode: 'frames', clipSeconds: 3 }, { timeoutMs: 300 }, never);
    await expect(failure).rejects.toThrow(StreamFetchError);
    await expect(failure).rejects.toMatchObject({ remediation: expect.stringContaining('within 0 s') });
  });

  test('input with more pixels than any camera is not decoded', async () => {
    const { stdout } = await promisify(execFile)(
      ffmpegPath,
      '-loglevel error -f lavfi -i color=size=4608x4608:rate=1 -frames:v 1 -c:v libx264 -preset ultrafast -f mpegts pipe:1'.split(
        ' ',
      ),
      { encoding: 'buffer', maxBuffer: 1e8 },
    );
    await expect(run([stdout], 'frames')).rejects.toBeInstanceOf(NoFrameDecodedError);
  });

  test('a playlist, a DASH manifest, an SDP or a concat script as input causes no connection', async () => {
    const reached = await countConnections(async (port) => {
      const url = `http://127.0.0.1:${port}/a.ts`;
      const bodies = [
        `#EXTM3U\n#EXT-X-TARGETDURATION:2\n#EXTINF:2,\n${url}\n`,
        `<MPD><Period><AdaptationSet><Representation><BaseURL>${url}</BaseURL></Representation></AdaptationSet></Period></MPD>`,
        `v=0\nc=IN IP4 127.0.0.1\nm=video ${port} RTP/AVP 96\n`,
        `ffconcat version 1.0\nfile ${url}\n`,
      ];
      for (const body of bodies) await run([Buffer.from(body)], 'frames').catch(() => {});
    });
    expect(reached).toBe(0);
  });

  test('RTSP input is read over TCP', async () => {
    const reached = await countConnections(async (port) => {
      const input = { kind: 'rtsp' as const, relayUrl: `rtsp://127.0.0.1:${port}/camera` };
      const failure = runner.run(input, { mode: 'frames', clipSeconds: 3 }, { timeoutMs: 2000 }, never);
      await expect(failure).rejects.toThrow('Failed to capture frame from stream');
    });
    expect(reached).toBe(1);
  });
});

async function* endless(): AsyncGenerator<Uint8Array> {
  yield recording.segments[0]!;
  await new Promise(() => {});
}

const decoder = createImageDecoder({ ffmpegPath });

/** Gray is full range in RGB, and 16 to 235 in the recording. */
const momentOfRgb = (rgb: Uint8Array): number => ((rgb[0]! * 219) / 255 + 16 - 30) / 12;

async function momentOfJpeg(jpeg: Uint8Array): Promise<number> {
  return momentOfRgb(await decoder.decode(jpeg, { width: 2, height: 2 }, never));
}

async function momentsOfClip(mp4: Uint8Array): Promise<number[]> {
  return (await decoder.decodeClip(mp4, { width: 2, height: 2 }, 5, never)).map(momentOfRgb);
}

async function videoSize(mp4: Uint8Array): Promise<string | undefined> {
  const probing = promisify(execFile)(ffmpegPath, [
    '-hide_banner',
    '-f',
    'mov',
    '-i',
    'pipe:0',
    '-f',
    'null',
    '-',
  ]);
  probing.child.stdin?.end(mp4);
  return / (\d+x\d+)[ ,]/.exec((await probing).stderr)?.[1];
}

/** Starts a server that closes every connection. */
async function countConnections(during: (port: number) => Promise<void>): Promise<number> {
  let connections = 0;
  const server: Server = createServer((socket) => {
    connections += 1;
    socket.on('error', () => {}).destroy();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  await during(typeof address === 'object' && address !== null ? address.port : 0);
  server.close();
  return connections;
}

/** Returns the peak memory of ffmpeg for a clip at the end of ten seconds. */
async function readMemoryKb(file: string, clipSeconds: number): Promise<number> {
  const input = { kind: 'file' as const, path: file, fromSeconds: 0, seconds: 10 };
  const bounds = { timeoutMs: 20_000, clipBytes: 2 ** 24 };
  const args = captureArguments(input, { mode: 'clip', clipSeconds }, bounds, join(tempDir, 'memory.mp4'));
  const shown = args.map((arg) => (arg === 'error' ? 'info' : arg.replace(/^pipe:[34]$/, '-')));
  const { stderr } = await promisify(execFile)(ffmpegPath, ['-benchmark', ...shown], {
    encoding: 'buffer',
    maxBuffer: 2 ** 26,
  });
  await rm(join(tempDir, 'memory.mp4'));
  return Number(/maxrss=(\d+)/.exec(stderr.toString())?.[1]);
}

import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { createFfmpegRunner } from '../../../adapters/media/ffmpeg/run-ffmpeg.ts';
import { decodeReadFrames } from '../../../adapters/recordings/played-frames.ts';
import { probeRecording } from '../../../adapters/recordings/probe-recording.ts';
import { createRecordingCapturer } from '../../../adapters/recordings/recording-capturer.ts';
import { arrangeTimeline, type Timeline } from '../../../adapters/recordings/timeline.ts';
import { StreamEndedError, StreamFetchError } from '../../../core/errors.ts';
import type { CaptureRequest } from '../../../core/records/capture.ts';
import { ffmpegPath, readMoment, record } from '../../support/hls/recording.ts';
import { readPicture } from '../../support/read-picture.ts';

const run = promisify(execFile);
const never = new AbortController().signal;
const frames: CaptureRequest = {
  url: 'recording',
  mode: 'frames',
  clipSeconds: 3,
  caller: 'ada',
  resolveAgain: false,
};
let folder: string;
let path: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'capturer-'));
  path = join(folder, 'recording.ts');
  await writeFile(path, Buffer.concat((await record()).segments));
});
afterAll(async () => rm(folder, { recursive: true, force: true }));

let close = async (): Promise<void> => undefined;
afterEach(async () => close());

/** Captures at times of the timeline, in seconds. */
function createCapturer(timeline: Timeline) {
  const clock = { now: timeline.beginsAt };
  const ffmpeg = createFfmpegRunner({ ffmpegPath, tempDir: folder });
  const capturer = createRecordingCapturer({ timeline, ffmpegPath, ffmpeg, now: () => clock.now });
  close = capturer.close;
  return async (seconds: number, request = frames) => {
    clock.now = new Date(timeline.beginsAt.getTime() + seconds * 1000);
    return capturer.capture(request, never);
  };
}

const facts = { durationSeconds: 16, keyFrames: [0, 2, 4, 6, 8, 10, 12, 14] };
/** The same recording with fewer key frames. */
const sparse = { ...facts, keyFrames: [0, 8] };

test('a recording of one frame, or a picture, is played', async () => {
  const still = join(folder, 'still.jpg');
  const lone = join(folder, 'lone.mp4');
  await run(ffmpegPath, ['-v', 'error', '-i', path, '-frames:v', '1', still]);
  await run(ffmpegPath, ['-v', 'error', '-i', path, '-frames:v', '1', lone]);
  for (const file of [still, lone]) {
    const probed = await probeRecording(ffmpegPath, file, never);
    const capture = createCapturer(arrangeTimeline([{ path: file, ...probed }]));
    expect((await capture(0)).frame.length).toBeGreaterThan(0);
    await close();
  }
});

test('a probe reads the duration of a recording and the times of its key frames', async () => {
  const { durationSeconds, keyFrames } = await probeRecording(ffmpegPath, path, never);
  expect(durationSeconds).toBeCloseTo(16, 1);
  expect(keyFrames).toEqual(facts.keyFrames);
});

test.each([
  ['H.264', 'libx264', 'x264'],
  ['H.265', 'libx265', 'x265'],
])('a probe lists open groups of %s by the times at which they are shown', async (_, codec, name) => {
  const file = join(folder, `open-${name}.mp4`);
  const groups = `-${name}-params open-gop=1:keyint=20:min-keyint=20:scenecut=0:bframes=3:b-adapt=0`;
  await run(ffmpegPath, ['-v', 'error', '-i', path, '-c:v', codec, ...groups.split(' '), file]);
  const { keyFrames } = await probeRecording(ffmpegPath, file, never);
  expect(keyFrames).toHaveLength(8);
  for (const [index, seconds] of keyFrames.entries()) expect(seconds).toBeCloseTo(index * 2, 2);
});

test('a probe of a file without video fails with its path', async () => {
  const text = join(folder, 'text.mp4');
  await writeFile(text, 'no video');
  await expect(probeRecording(ffmpegPath, text, never)).rejects.toThrow(/text\.mp4 contains no video/);
});

test('a capture is the newest frame before the virtual time if key frames are over 4 s apart', async () => {
  const captureAt = createCapturer(arrangeTimeline([{ path, ...sparse }]));
  for (const seconds of [0, 3, 3.2, 10, 15.9]) {
    const { thumbnail, capturedAt } = await captureAt(seconds);
    expect(Math.abs(readMoment(thumbnail) - seconds)).toBeLessThan(0.7);
    expect(capturedAt.getTime()).toBeLessThanOrEqual(Date.UTC(2000, 0, 1) + seconds * 1000);
  }
});

test('a capture is the newest key frame before the virtual time if key frames are up to 4 s apart', async () => {
  const captureAt = createCapturer(arrangeTimeline([{ path, ...facts }]));
  expect(readMoment((await captureAt(7.5)).thumbnail)).toBeCloseTo(6, 0);
});

test.each([
  ['open', 0],
  ['refreshed', 0],
  ['refreshed', 1],
] as const)(
  'a recording with groups of kind "%s" that begins after %i s of them plays a frame at the time of each',
  async (groups, begin) => {
    const { segments } = await record({ groups, segmentSeconds: 1 });
    const file = join(folder, `${groups}-${begin}.ts`);
    await writeFile(file, Buffer.concat(segments.slice(begin)));
    const timeline = arrangeTimeline([{ path: file, ...(await probeRecording(ffmpegPath, file, never)) }]);
    const captureAt = createCapturer(timeline);
    let last = -2;
    for (const seconds of [1, 3.5, 5.9, 8.7, 13.9]) {
      const moment = readMoment((await captureAt(seconds)).thumbnail);
      // A group is of 2 s, and the first frame may be 1 s after the begin.
      expect(Math.abs(moment - begin - seconds)).toBeLessThan(2.6);
      expect(moment).toBeGreaterThan(last + 1);
      last = moment;
    }
  },
);

test.each([
  ['between key frames', sparse, 0.45],
  ['of key frames', facts, 2],
])('another frame %s follows within a known time', async (_, recording, seconds) => {
  const captureAt = createCapturer(arrangeTimeline([{ path, ...recording }]));
  expect((await captureAt(5)).position.segment_seconds).toBe(seconds);
});

test('captures continue in the next recording, and a capture in a gap fails', async () => {
  const timeline = arrangeTimeline([{ path, ...facts }]);
  const [first] = timeline.files;
  const files = [first!, { ...first!, startSeconds: 60 }];
  const captureAt = createCapturer({ ...timeline, files, durationSeconds: 76 });
  await captureAt(12);
  await expect(captureAt(30)).rejects.toBeInstanceOf(StreamFetchError);
  expect(readMoment((await captureAt(64)).thumbnail)).toBeCloseTo(4, 0);
  await expect(captureAt(76)).rejects.toBeInstanceOf(StreamEndedError);
});

test('two captures of one frame have the same position, and a later frame has another', async () => {
  const captureAt = createCapturer(arrangeTimeline([{ path, ...facts }]));
  const [first, again, later] = [await captureAt(5.01), await captureAt(5.02), await captureAt(9)];
  expect(again.position.segment).toBe(first.position.segment);
  expect(later.position.segment).not.toBe(first.position.segment);
});

test('a clip ends at the virtual time', async () => {
  const captureAt = createCapturer(arrangeTimeline([{ path, ...facts }]));
  const { clip, thumbnail } = await captureAt(8, { ...frames, mode: 'hybrid' });
  expect(clip?.length).toBeGreaterThan(500);
  expect(Math.abs(readMoment(thumbnail) - 8)).toBeLessThan(1);
});

test('a file that cannot be decoded fails with its path', async () => {
  const broken = join(folder, 'broken.ts');
  await writeFile(broken, Buffer.alloc(10_000, 1));
  const captureAt = createCapturer(arrangeTimeline([{ path: broken, ...facts }]));
  await expect(captureAt(1)).rejects.toThrow(/broken\.ts/);
});

/** Records H.264 with an hour's rules: key frames every second, of which some are captured. */
async function recordLong(name: string, options: string): Promise<string> {
  const file = join(folder, name);
  const source = '-f lavfi -i testsrc2=size=320x180:rate=5:duration=15';
  await run(ffmpegPath, ['-loglevel', 'error', ...`${source} ${options}`.split(' '), file]);
  return file;
}

function hash(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

const h264 = '-c:v libx264 -preset ultrafast -pix_fmt yuv420p -g 5 -keyint_min 5 -sc_threshold 0';
const times = [0, 0.4, 3.7, 4.1, 4.2, 14.9];

test.each([
  ['an MP4', 'long.mp4', true, `${h264} -bf 2`],
  ['an MPEG-TS recording that begins late', 'late.ts', true, `${h264} -output_ts_offset 50000`],
  ['a recording of key frames alone', 'intra.mp4', true, `${h264.replace('-g 5', '-g 1')} -r 5`],
  [
    'HEVC',
    'long.mkv',
    false,
    '-c:v libx265 -preset ultrafast -x265-params log-level=none:keyint=5:min-keyint=5',
  ],
])('%s has the same captures if only those frames are decoded', async (_, name, isLazy, options) => {
  const file = await recordLong(name, options);
  const first = await decodeReadFrames(ffmpegPath, file).next();
  expect(first.done ?? false).toBe(!isLazy);
  const recording = { path: file, keyFrames: Array.from({ length: 15 }, (_, second) => second) };
  const read = async (durationSeconds: number) => {
    const { files, ...timeline } = arrangeTimeline([{ ...recording, durationSeconds: 15 }]);
    const captureAt = createCapturer({
      ...timeline,
      files: files.map((each) => ({ ...each, durationSeconds })),
    });
    const captures = [];
    for (const seconds of times) {
      const { frame, thumbnail, capturedAt, position } = await captureAt(seconds);
      // A failure that prints pictures takes minutes.
      captures.push({ seconds, frame: hash(frame), thumbnail: hash(thumbnail), capturedAt, position });
    }
    await close();
    return captures;
  };
  // The duration decides how a file is read.
  expect(await read(3600)).toEqual(await read(15));
});

test('a key frame that cannot be decoded alone has the capture that ffmpeg makes of the recording', async () => {
  const file = await recordLong('damaged.ts', h264);
  const bytes = await readFile(file);
  // 188 bytes a packet: the middle of the recording is lost.
  const damaged = join(folder, 'hole.ts');
  await writeFile(damaged, bytes.fill(0xff, 188 * 300, 188 * 340));
  const keyFrames = Array.from({ length: 3600 }, (_, second) => second);
  const captureAt = createCapturer(arrangeTimeline([{ path: damaged, durationSeconds: 3600, keyFrames }]));
  for (let seconds = 0; seconds < 14; seconds += 1)
    expect((await captureAt(seconds)).frame.length).toBeGreaterThan(1000);
});

/** Captures that look back, each since the one before. */
function createScanner(timeline: Timeline) {
  const captureAt = createCapturer(timeline);
  let since: string | null = null;
  return async (seconds: number) => {
    const { scan, position } = await captureAt(seconds, { ...frames, lookBack: { since } });
    since = position.scan ?? null;
    return { ...scan!, moments: scan!.frames.map(({ thumbnail }) => Math.round(readMoment(thumbnail))) };
  };
}

test('a capture scans the frames since the one before, at most one of each second', async () => {
  const scanAt = createScanner(arrangeTimeline([{ path, ...sparse }]));
  expect(await scanAt(4)).toMatchObject({ frames: [], coveredSeconds: 0, leftOutSeconds: 0 });
  const { frames, moments, coveredSeconds, leftOutSeconds, distanceSeconds } = await scanAt(10);
  expect(moments).toEqual([5, 6, 7, 8, 9]);
  expect(frames[0]!.at.getTime() - Date.UTC(2000, 0, 1)).toBeCloseTo(5000, -3);
  expect(coveredSeconds).toBeCloseTo(6, 0);
  expect(leftOutSeconds).toBe(0);
  expect(distanceSeconds).toBeLessThan(1.5);
  expect((await readPicture({ frames }, 0))?.subarray(0, 2)).toEqual(Uint8Array.of(0xff, 0xd8));
  expect((await scanAt(10)).moments).toEqual([]);
});

test('a scan of key frames reads each of them', async () => {
  const scanAt = createScanner(arrangeTimeline([{ path, ...facts }]));
  await scanAt(2.5);
  expect((await scanAt(11)).moments).toEqual([4, 6, 8]);
});

test('a scan reads frames between those key frames only that are over 4 s apart', async () => {
  const mixed = join(folder, 'mixed.mp4');
  const keys = '-c:v libx264 -preset ultrafast -qp 12 -g 1000 -sc_threshold 0 -force_key_frames 0,5.2,8.4';
  await run(ffmpegPath, ['-v', 'error', '-i', path, ...keys.split(' '), mixed]);
  const probed = await probeRecording(ffmpegPath, mixed, never);
  const scanAt = createScanner(arrangeTimeline([{ path: mixed, ...probed }]));
  await scanAt(2.9);
  const { frames } = await scanAt(10.9);
  const seconds = frames.map(({ at }) => (at.getTime() - Date.UTC(2000, 0, 1)) / 1000);
  expect(seconds.filter((each) => each < 5)).toHaveLength(2);
  expect(seconds.filter((each) => each > 5 && each < 8.5)).toEqual([5.2, 8.4]);
  expect(seconds.filter((each) => each > 8.5).length).toBeGreaterThanOrEqual(1);
});

test('a scan continues through recordings without a gap, and leaves a gap out', async () => {
  const { files, ...timeline } = arrangeTimeline([sparse, sparse, sparse].map((each) => ({ path, ...each })));
  const scanAt = createScanner({ ...timeline, files });
  await scanAt(13);
  const whole = Array.from({ length: 16 }, (_, index) => index);
  expect((await scanAt(35)).moments).toEqual([14, 15, ...whole, 0, 1, 2]);
  await close();
  const later = files.map((file, index) =>
    index === 0 ? file : { ...file, startSeconds: file.startSeconds + 5 },
  );
  const scanGap = createScanner({ ...timeline, files: later, durationSeconds: 60 });
  await scanGap(13);
  const { coveredSeconds, leftOutSeconds } = await scanGap(24);
  expect(coveredSeconds).toBeCloseTo(3, 0);
  expect(leftOutSeconds).toBeCloseTo(5, 0);
});

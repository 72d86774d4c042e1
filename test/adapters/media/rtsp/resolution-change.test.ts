import { expect, test } from 'vitest';
import { createImageDecoder } from '../../../../adapters/media/ffmpeg/decode-image.ts';
import { poolDecoders } from '../../../../adapters/media/ffmpeg/decoder-pool.ts';
import { createFfmpegRunner } from '../../../../adapters/media/ffmpeg/run-ffmpeg.ts';
import { thumbnail } from '../../../../core/records/capture.ts';
import { jpegSize } from '../../../support/hls/jpeg-size.ts';
import { ffmpegPath, readMoment } from '../../../support/hls/recording.ts';
import { sharedFolder } from '../../../support/runner/run-folder.ts';
import { openPlayedSession } from '../../../support/rtsp/played-session.ts';

/** Camera whose key frames have another resolution than its session description after 3 s. */

const runner = createFfmpegRunner({ ffmpegPath, tempDir: sharedFolder() });
const ffmpeg = poolDecoders({ ffmpegPath, ffmpeg: runner, maxProcesses: 2 });

const large = { width: 640, height: 360 };
const small = { width: 320, height: 176 };
const upright = { width: 352, height: 640 };
const text = ({ width, height }: typeof large) => `${width}x${height}`;

test.each([
  ['h264', large, upright],
  ['h265', small, large],
] as const)('frames of %s after a change within a session are whole', async (codec, from, to) => {
  const session = await openPlayedSession(ffmpeg, {
    codec,
    size: text(from),
    next: { codec, size: text(to) },
  });
  for (const [seconds, size, moment] of [
    [2.55, from, 2],
    [3.55, to, 0],
    [5.05, to, 1.5],
  ] as const) {
    session.playTo(seconds);
    const taken = await session.capture('frames');
    expect(jpegSize(taken.frame)).toEqual(size);
    expect(readMoment(taken.thumbnail)).toBe(moment);
    const luma = taken.thumbnail.subarray(0, thumbnail.width * thumbnail.height);
    expect(Math.max(...luma) - Math.min(...luma)).toBeLessThanOrEqual(1);
  }
});

test.each([
  ['h264', large, upright],
  ['h265', small, large],
] as const)('a clip of %s waits for its seconds after a change', async (codec, from, to) => {
  const session = await openPlayedSession(ffmpeg, {
    codec,
    size: text(from),
    next: { codec, size: text(to) },
  });
  const capturing = session.capture('hybrid', 2);
  session.playTo(4.5);
  await new Promise((resolve) => setImmediate(resolve));
  session.playTo(6);
  const { clip, frame, thumbnail: newest } = await capturing;
  expect(jpegSize(frame)).toEqual(to);
  expect(readMoment(newest)).toBeGreaterThan(2.5);
  const decoder = createImageDecoder({ ffmpegPath });
  const frames = await decoder.decodeClip(clip!, thumbnail, 5, AbortSignal.timeout(10_000));
  expect(frames).toHaveLength(10);
  for (const [index, shown] of frames.slice(1).entries())
    expect(readMoment(shown)).toBeGreaterThan(readMoment(frames[index]!));
});

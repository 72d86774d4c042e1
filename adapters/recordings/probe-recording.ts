import { spawnFfmpeg } from '../media/ffmpeg/spawn-ffmpeg.ts';
import { decodingLimits, fileInput, quietArguments } from '../media/ffmpeg/capture-arguments.ts';

import { RecordingError } from './recording-error.ts';

/** Facts of a recording. `keyFrameSeconds` is the mean time between key frames of its first minute. */
export type RecordingFacts = { durationSeconds: number; keyFrameSeconds: number };

const probeTimeoutMs = 60_000;
const sampledSeconds = 60;
const outputBytes = 4 * 1024 * 1024;

/** Reads the duration and the distance of key frames with two runs of ffmpeg that decode no or few frames. Throws `RecordingError`. */
export async function probeRecording(
  ffmpegPath: string,
  path: string,
  signal: AbortSignal,
): Promise<RecordingFacts> {
  const packets = await timestamps(ffmpegPath, [...fileInput(path), '-map', '0:v:0', '-c', 'copy'], signal);
  const last = packets.at(-1);
  const first = packets[0];
  if (first === undefined || last === undefined)
    throw new RecordingError(`${path} contains no video that ffmpeg can read.`);
  const frameSeconds = packets.length > 1 ? (last - first) / (packets.length - 1) : 0;
  const decoding = ['-skip_frame', 'nokey', ...decodingLimits, '-t', `${sampledSeconds}`, ...fileInput(path)];
  const keyFrames = await timestamps(
    ffmpegPath,
    [...decoding, '-map', '0:v:0', '-vf', 'scale=2:2', '-fps_mode', 'passthrough', '-c:v', 'rawvideo'],
    signal,
  );
  const covered = Math.min(sampledSeconds, last - first);
  return {
    durationSeconds: last - first + frameSeconds,
    keyFrameSeconds: keyFrames.length === 0 ? Infinity : covered / keyFrames.length,
  };
}

/** Returns the presentation times that a run outputs, in seconds and ascending. */
async function timestamps(ffmpegPath: string, args: string[], signal: AbortSignal): Promise<number[]> {
  const run = { ffmpegPath, outputBytes, timeoutMs: probeTimeoutMs };
  const outcome = await spawnFfmpeg(
    { ...run, args: [...quietArguments, ...args, '-f', 'mkvtimestamp_v2', 'pipe:1'] },
    signal,
  );
  return Buffer.from(outcome.stdout)
    .toString()
    .split('\n')
    .filter((line) => /^-?\d/.test(line))
    .map((line) => Number(line) / 1000)
    .toSorted((a, b) => a - b);
}

import { spawnFfmpeg } from '../media/ffmpeg/spawn-ffmpeg.ts';
import { fileInput, quietArguments } from '../media/ffmpeg/capture-arguments.ts';

import { RecordingError } from './recording-error.ts';

/**
 * Facts of a recording. `keyFrames` are the times of its key frames from the first one, in seconds. `refersBack`: some
 * begin an open group or an intra refresh of H.264, which ffmpeg outputs only if it has decoded what comes before.
 */
export type RecordingFacts = { durationSeconds: number; keyFrames: number[]; refersBack?: boolean };

const probeTimeoutMs = 600_000;
const singleFrameSeconds = 0.1;
/** A line takes 10 bytes: enough for two days at 30 frames per second. */
const outputBytes = 64 * 1024 * 1024;

/** Leaves out all packets but those of key frames, and lists them by the time of their presentation. */
const keyPackets = 'noise=drop=not(key),setts=ts=if(eq(PTS\\,NOPTS)\\,DTS\\,PTS)';
/** Leaves out packets without an IDR picture. ffmpeg rejects it for all codecs but H.264. */
const resetUnits = 'h264_mp4toannexb,filter_units=pass_types=5';

/** Reads the facts of a recording without decoding frames. Throws `RecordingError`. */
export async function probeRecording(
  ffmpegPath: string,
  path: string,
  signal: AbortSignal,
): Promise<RecordingFacts> {
  const copied = ['-map', '0:v:0', '-c', 'copy'];
  const listed = ['-f', 'mkvtimestamp_v2'];
  const run = { ffmpegPath, outputBytes, timeoutMs: probeTimeoutMs };
  const all = [...copied, ...listed, 'pipe:1'];
  const keys = [...copied, '-bsf:v', keyPackets, ...listed, 'pipe:3'];
  const resets = [...copied, '-bsf:v', `${keyPackets},${resetUnits}`, ...listed, 'pipe:4'];
  const args = [...quietArguments, ...fileInput(path), ...all, ...keys];
  const ofH264 = await spawnFfmpeg({ ...run, args: [...args, ...resets] }, signal);
  const isH264 = readTimes(ofH264.stdout).length > 0;
  const outcome = isH264 ? ofH264 : await spawnFfmpeg({ ...run, args }, signal);
  const packets = readTimes(outcome.stdout);
  const last = packets.at(-1);
  const first = packets[0];
  if (first === undefined || last === undefined)
    throw new RecordingError(`${path} contains no video that ffmpeg can read.`);
  const frameSeconds = packets.length > 1 ? (last - first) / (packets.length - 1) : singleFrameSeconds;
  const keyFrames = readTimes(outcome.fd3);
  return {
    durationSeconds: last - first + frameSeconds,
    keyFrames: keyFrames.map((seconds) => seconds - (keyFrames[0] ?? 0)),
    ...(isH264 && readTimes(ofH264.fd4).length < keyFrames.length && { refersBack: true }),
  };
}

/** Returns the presentation times of a list, in seconds and ascending. */
function readTimes(lines: Uint8Array): number[] {
  return Buffer.from(lines)
    .toString()
    .split('\n')
    .filter((line) => /^-?\d/.test(line))
    .map((line) => Number(line) / 1000)
    .toSorted((a, b) => a - b);
}

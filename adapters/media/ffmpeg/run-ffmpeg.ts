import { randomUUID } from 'node:crypto';
import { mkdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { InputMode } from '../../../core/capture.ts';
import { thumbnail } from '../../../core/capture.ts';
import { StreamFetchError, TransientError } from '../../../core/errors.ts';
import { NoPictureError } from './errors.ts';
import { captureArguments } from './graphs.ts';
import type { Chunks, FfmpegOutcome } from './spawn-ffmpeg.ts';
import { createSpareFfmpeg } from './spare-ffmpeg.ts';
import { spawnFfmpeg } from './spawn-ffmpeg.ts';

/**
 * `pipe`: the bytes of whole segments; `seconds` says how long they play, and lets a clip be taken from their end rather than their start.
 * `endsAtSeconds` says it better where it is known: when the last picture is over, by the clock of the bytes.
 * `rtsp`: a relay on loopback, which has checked where it leads.
 */
export type FfmpegInput =
  | { kind: 'pipe'; format: 'mpegts' | 'mov'; chunks: Chunks; seconds?: number; endsAtSeconds?: number }
  | { kind: 'rtsp'; relayUrl: string };

/** `frame` is a JPEG of at most 896 px width, `thumbnail` planar yuv420p of the same moment, `clip` an MP4 in modes clip and hybrid. */
export type FfmpegPictures = { frame: Uint8Array; thumbnail: Uint8Array; clip?: Uint8Array };

export type FfmpegRunner = {
  /** One ffmpeg process. Throws `StreamFetchError`, `NoPictureError` among them, `TransientError` for this machine's faults, and whatever `chunks` throws. */
  run(
    input: FfmpegInput,
    wanted: { mode: InputMode; clipSeconds: number },
    limits: { timeoutMs: number },
    signal: AbortSignal,
  ): Promise<FfmpegPictures>;
};

/** Far above what a capture makes; a stream of key frames only makes a picture of each. */
const pictureBytesLimit = 64 * 1024 * 1024;
/** Models take about 25 MB inline, base64 included; a clip of 3 s is 100 kB. */
const clipBytesLimit = 16 * 1024 * 1024;

/** Of intervals up to a minute every capture finds a process that waits; longer ones are not worth its memory. */
const keepSpareMs = 65_000;

/** `tempDir` holds clips while they are written: an MP4 that starts with its index needs a file. */
export function createFfmpegRunner(options: { ffmpegPath: string; tempDir: string }): FfmpegRunner {
  const newFile = (): string => join(options.tempDir, `clip-${randomUUID()}.mp4`);
  const spares = createSpareFfmpeg({ ffmpegPath: options.ffmpegPath, keepMs: keepSpareMs, newFile });
  return { run };

  async function run(
    ...[input, wanted, limits, signal]: Parameters<FfmpegRunner['run']>
  ): Promise<FfmpegPictures> {
    const command = (clipPath: string): string[] =>
      captureArguments(input, wanted, { ...limits, clipBytes: clipBytesLimit }, clipPath);
    // The other command lines hold what only their own capture knows: a span of time, a relay.
    const mayWait = input.kind === 'pipe' && (wanted.mode === 'frames' || input.endsAtSeconds !== undefined);
    if (wanted.mode !== 'frames') await onDisk(() => mkdir(options.tempDir, { recursive: true }));
    signal.throwIfAborted();
    const process = spares.take(command);
    const outputs = { outputBytes: pictureBytesLimit, timeoutMs: limits.timeoutMs };
    try {
      const chunks = input.kind === 'pipe' ? { input: input.chunks } : {};
      const outcome = await spawnFfmpeg({ process, ...chunks, ...outputs }, signal);
      // Starting a process holds everything up for some milliseconds: first the pictures are handed over.
      if (mayWait) setImmediate(() => spares.prepare(command));
      return await readPictures(outcome, wanted.mode, limits.timeoutMs, process.file);
    } finally {
      if (wanted.mode !== 'frames') await rm(process.file, { force: true });
    }
  }
}

async function readPictures(
  outcome: FfmpegOutcome,
  mode: InputMode,
  timeoutMs: number,
  clipPath: string,
): Promise<FfmpegPictures> {
  if (isDiskFull(outcome)) throw new TransientError('The disk of the temporary files is full');
  if (outcome.ended !== 'exited') throw notInLimits(outcome, mode, timeoutMs);
  const pictures = lastPictures(outcome);
  if (pictures === undefined) throw nothingDecoded(outcome, mode);
  if (mode === 'frames') return pictures;
  // Joining a stream can make ffmpeg exit with an error after a good picture, but a clip is whole only after exit code 0.
  if (outcome.exitCode !== 0) throw nothingDecoded(outcome, mode);
  return { ...pictures, clip: await onDisk(() => readFile(clipPath)) };
}

/** A fault of this machine's disk is no fault of the stream. */
async function onDisk<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw new TransientError('The folder of the temporary files cannot be used', { cause: error });
  }
}

function isDiskFull(outcome: FfmpegOutcome): boolean {
  return /No space left on device|Disk quota exceeded/i.test(outcome.complaints);
}

function lastPictures(outcome: FfmpegOutcome): FfmpegPictures | undefined {
  const frame = lastJpeg(outcome.fd3);
  const thumbnails = outcome.stdout;
  if (
    frame === undefined ||
    thumbnails.length < thumbnail.bytes ||
    thumbnails.length % thumbnail.bytes !== 0
  ) {
    return undefined;
  }
  return { frame, thumbnail: thumbnails.slice(-thumbnail.bytes) };
}

/** The start marker cannot occur inside of a JPEG's compressed data, which stuffs every 0xFF. */
function lastJpeg(bytes: Uint8Array): Uint8Array | undefined {
  const pictures = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const start = pictures.lastIndexOf(Buffer.from([0xff, 0xd8, 0xff]));
  const whole = start >= 0 && pictures.subarray(-2).equals(Buffer.from([0xff, 0xd9]));
  return whole ? bytes.slice(start) : undefined;
}

function nothingDecoded(outcome: FfmpegOutcome, mode: InputMode): NoPictureError {
  return new NoPictureError(
    'The stream was reached, but no picture could be decoded from it. Check that it plays in a video player and that its video is H.264, H.265, AV1, VP9 or MPEG-2.',
    failureMessage(mode),
    { cause: complaints(outcome) },
  );
}

function notInLimits(outcome: FfmpegOutcome, mode: InputMode, timeoutMs: number): StreamFetchError {
  const remediation =
    outcome.ended === 'timed out'
      ? `No complete picture came within ${Math.round(timeoutMs / 1000)} s. Check that the stream is running and has a key frame every few seconds, then try again.`
      : 'The stream has far more pictures or larger ones than a live stream has. Use a stream of at most 4K and 60 frames per second.';
  return new StreamFetchError(remediation, failureMessage(mode), { cause: complaints(outcome) });
}

function failureMessage(mode: InputMode): string {
  return mode === 'frames'
    ? 'Failed to capture frame from stream'
    : 'Failed to capture video clip from stream';
}

function complaints(outcome: FfmpegOutcome): Error {
  return new Error(`ffmpeg ${outcome.ended}, exit code ${outcome.exitCode}: ${outcome.complaints.trim()}`);
}

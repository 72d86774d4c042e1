import { randomUUID } from 'node:crypto';
import { mkdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { InputMode } from '../../../core/records/capture.ts';
import { StreamFetchError, TransientError } from '../../../core/errors.ts';
import { damagedStream, NoFrameDecodedError } from './errors.ts';
import {
  captureArguments,
  keyFrameArguments,
  secondsArguments,
  type GroupClock,
} from './capture-arguments.ts';
import { collectChunks, spawnFfmpeg, type Chunks, type FfmpegOutcome } from './spawn-ffmpeg.ts';
import { indexAccessUnits } from '../mpeg-ts/access-units.ts';
import { renumberPackets, tidyTransportStream } from '../mpeg-ts/tidy-transport-stream.ts';
import {
  allPictures,
  hasHole,
  lastPictures,
  timedPictures,
  type DecodedPicture,
  type TimedPicture,
} from './decoded-pictures.ts';
import { createFfmpegPool } from './ffmpeg-pool.ts';

/**
 * Input of a capture. `pipe`: the bytes of whole segments. `seconds` is their duration, so that a clip can be cut
 * from their end. `endsAtSeconds`, if known, is more exact: the end of the last frame on the clock of the bytes.
 * `rtsp`: a loopback relay whose target is already checked. `file`: a span of a recording of the operator.
 */
export type FfmpegInput =
  | PipeInput
  | { kind: 'rtsp'; relayUrl: string }
  | { kind: 'file'; path: string; fromSeconds: number; seconds: number };

export type PipeInput = {
  kind: 'pipe';
  format: 'mpegts' | 'mov' | 'mjpeg';
  chunks: Chunks;
  /** Access units of H.264 in Annex B format, if each chunk is a key frame: for decoders that need no chunks. */
  keyFrames?: readonly Uint8Array[];
  seconds?: number;
  endsAtSeconds?: number;
  /** True if decoding begins with an intra refresh: its first pictures refer to others. */
  isRefreshed?: boolean;
};

/** Output of a capture, with an MP4 in the modes `clip` and `hybrid`. */
export type FfmpegOutput = DecodedPicture & { clip?: Uint8Array };

/** Decoded key frame of several. */
export type KeyFramePicture = { thumbnail: Uint8Array; frame: Uint8Array | null };

export type FfmpegRunner = {
  /**
   * Runs one ffmpeg process. Throws `StreamFetchError` (also `NoFrameDecodedError`), `TransientError` for local faults,
   * and any error of `chunks`.
   */
  run(
    input: FfmpegInput,
    wanted: WantedCapture,
    limits: { timeoutMs: number },
    signal: AbortSignal,
  ): Promise<FfmpegOutput>;
  /**
   * Decodes all key frames of a pipe, in their order, and throws like `run`. With `isEach`, each chunk is a key frame
   * with a place of its own in the result: `null` for one that is not decoded. `null` also stands for the frame of a
   * chunk that `run` decodes alone.
   */
  runAll(
    input: PipeInput,
    wanted: Pick<WantedCapture, 'caller'> & { isEach?: boolean },
    limits: { timeoutMs: number },
    signal: AbortSignal,
  ): Promise<(KeyFramePicture | null)[]>;
  /**
   * Decodes a group of pictures from its key frame on, after all other work: the first frame of each further second of
   * its clock, up to the first damaged one and as far as its time suffices. Returns null if the host has no time for it
   * now. Throws `TransientError` and any error of `chunks`.
   */
  runEachSecond?(
    input: PipeInput,
    clock: GroupClock,
    limits: { timeoutMs: number },
    signal: AbortSignal,
  ): Promise<TimedPicture[] | null>;
};

/**
 * Media of a capture. `caller`: the only one for whom a shared process may decode it; without, a process of its own
 * does.
 */
export type WantedCapture = { mode: InputMode; clipSeconds: number; caller?: string | undefined };

/**
 * Maximum bytes of all frames, far above a normal capture. A stream of key frames only yields one JPEG per frame.
 */
const pictureBytesLimit = 64 * 1024 * 1024;
/** Maximum bytes of a clip. Models accept about 25 MB inline, base64 included; a clip of 3 s has 100 kB. */
const clipBytesLimit = 16 * 1024 * 1024;

/**
 * Lifetime of an idle process, in milliseconds. It covers intervals of up to a minute; longer ones are not worth
 * the memory.
 */
const keepSpareMs = 65_000;

/** Maximum key frames of one call that have a process each. */
const maxAlone = 16;

const skip = (): FfmpegOutput[] => [];

/**
 * Creates the runner. `tempDir` holds clips while they are written: an MP4 with its index at the front needs a
 * file.
 */
export function createFfmpegRunner(options: {
  ffmpegPath: string;
  tempDir: string;
  prepareAfterMs?: number;
  elapsedMs?: () => number;
}): FfmpegRunner {
  const newFile = (): string => join(options.tempDir, `clip-${randomUUID()}.mp4`);
  const { ffmpegPath, prepareAfterMs, elapsedMs = () => performance.now() } = options;
  const spares = createFfmpegPool({ ffmpegPath, keepMs: keepSpareMs, newFile, prepareAfterMs });
  return { run, runAll, runEachSecond };

  /**
   * One decoder drops key frames of open groups whose order it cannot tell (H.264): then each has a decoder of its own,
   * the newest ones first.
   */
  async function runAll(
    ...[input, { isEach }, limits, signal]: Parameters<FfmpegRunner['runAll']>
  ): Promise<(FfmpegOutput | null)[]> {
    if (!isEach) return runPipe(input, limits, signal);
    const chunks = await collectChunks(input.chunks);
    const untilMs = elapsedMs() + limits.timeoutMs;
    const together = await runPipe({ ...input, chunks }, limits, signal);
    if (together.length === chunks.length) return together;
    const pictures: (FfmpegOutput | null)[] = chunks.map(() => null);
    for (let index = chunks.length - 1; index >= Math.max(0, chunks.length - maxAlone); index -= 1) {
      const timeoutMs = untilMs - elapsedMs();
      if (timeoutMs <= 0) break;
      const chunk = chunks.slice(index, index + 1);
      pictures[index] =
        (await runPipe({ ...input, chunks: chunk }, { timeoutMs }, signal).catch(skip))[0] ?? null;
    }
    signal.throwIfAborted();
    return pictures;
  }

  /** Keeps no process for the next run: starting one takes as long as the decoding. */
  async function runPipe(
    input: PipeInput,
    limits: { timeoutMs: number },
    signal: AbortSignal,
  ): Promise<FfmpegOutput[]> {
    const args = keyFrameArguments(input, limits);
    const outputs = { outputBytes: pictureBytesLimit, timeoutMs: limits.timeoutMs };
    const outcome = await spawnFfmpeg({ ffmpegPath, args, input: toChunks(input), ...outputs }, signal);
    if (outcome.ended !== 'exited') throw notInLimits(outcome, 'frames', limits.timeoutMs);
    return allPictures(outcome);
  }

  async function runEachSecond(
    ...[input, clock, limits, signal]: Parameters<NonNullable<FfmpegRunner['runEachSecond']>>
  ): Promise<TimedPicture[]> {
    const chunks = await collectChunks(input.chunks);
    const untilMs = elapsedMs() + limits.timeoutMs;
    const decode = async (isStrict: boolean): Promise<FfmpegOutcome> => {
      const timeoutMs = Math.max(1, untilMs - elapsedMs());
      const args = secondsArguments(input, clock, { timeoutMs, isStrict });
      const run = {
        ffmpegPath,
        args,
        input: toChunks({ ...input, chunks }),
        outputBytes: pictureBytesLimit,
        timeoutMs,
      };
      return spawnFfmpeg({ ...run, canWait: true }, signal);
    };
    const outcome = await decode(true);
    const isRejected = outcome.ended === 'exited' && outcome.exitCode !== 0 && outcome.fd3.length === 0;
    const pictures = timedPictures(isRejected ? await decode(false) : outcome);
    const hole = pictures.findIndex((picture) => hasHole(picture.thumbnail));
    const whole = hole < 0 ? pictures : pictures.slice(0, hole);
    // Its first frame is the key frame.
    return !clock.isRebased && lacksReference(outcome) ? whole.slice(0, 1) : whole;
  }

  async function run(
    ...[input, wanted, limits, signal]: Parameters<FfmpegRunner['run']>
  ): Promise<FfmpegOutput> {
    const forClips = { ...limits, clipBytes: clipBytesLimit };
    const command = (clipPath: string): string[] => captureArguments(input, wanted, forClips, clipPath);
    // Other argument lists hold values of a single capture: a time span, a relay URL.
    const mayWait = input.kind === 'pipe' && (wanted.mode === 'frames' || input.endsAtSeconds !== undefined);
    if (wanted.mode !== 'frames') await onDisk(() => mkdir(options.tempDir, { recursive: true }));
    const pipe = (): { input?: Chunks } => (input.kind === 'pipe' ? { input: toChunks(input) } : {});
    signal.throwIfAborted();
    const process = spares.take(command);
    const startedMs = elapsedMs();
    const outputBytes = pictureBytesLimit;
    /** Runs once more in what is left of the time. */
    const runAgain = async (args: string[], source: { input?: Chunks }): Promise<FfmpegOutcome | null> => {
      const timeoutMs = startedMs + limits.timeoutMs - elapsedMs();
      return timeoutMs > 0
        ? spawnFfmpeg({ ffmpegPath, args, ...source, outputBytes, timeoutMs }, signal)
        : null;
    };
    try {
      const first = await spawnFfmpeg({ process, ...pipe(), outputBytes, ...limits }, signal);
      if (mayWait) spares.prepare(command, wanted.caller);
      const tidied = hasFailed(first) ? await tidy(input, first) : null;
      const second = tidied && (await runAgain(command(process.file), { input: [tidied] }));
      const outcome = second && hasSucceeded(second) && lastPictures(second) ? second : first;
      if (input.kind === 'pipe' && wanted.mode !== 'frames' && !input.isRefreshed && lacksReference(outcome))
        throw damagedStream(failureMessage(wanted.mode), ffmpegError(outcome));
      const isRepeatable = input.kind === 'pipe' && Array.isArray(input.chunks);
      if (!isRepeatable || !mayBeOdd(outcome))
        return await readPictures(outcome, input, wanted.mode, limits.timeoutMs, process.file);
      const lenient = captureArguments(input, wanted, { ...forClips, isLenient: true }, process.file);
      const again = await runAgain(lenient, pipe());
      if (again?.ended !== 'exited' || showsDamage(again)) throw nothingDecoded(outcome, input, wanted.mode);
      return await readPictures(again, input, wanted.mode, limits.timeoutMs, process.file);
    } finally {
      if (wanted.mode !== 'frames') await rm(process.file, { force: true });
    }
  }
}

/** Returns MPEG-TS without what a strict decoder stops at although its pictures are whole; null for other input. */
async function tidy(input: FfmpegInput, { stderr }: FfmpegOutcome): Promise<Buffer | null> {
  const isRepeatable = input.kind === 'pipe' && input.format === 'mpegts' && Array.isArray(input.chunks);
  const isDamaged = /error while decoding/.test(stderr);
  return isRepeatable
    ? tidyTransportStream(Buffer.concat(await collectChunks(input.chunks)), { isDamaged })
    : null;
}

function hasSucceeded({ ended, exitCode }: FfmpegOutcome): boolean {
  return ended === 'exited' && exitCode === 0;
}

function hasFailed({ ended, exitCode }: FfmpegOutcome): boolean {
  return ended === 'exited' && exitCode !== 0;
}

/**
 * Returns true if a run has found an error of which the decoder of H.264 says more: the begin of an open group or
 * information that cannot be read is no damage. That of H.265 conceals without a word.
 */
function mayBeOdd(outcome: FfmpegOutcome): boolean {
  return hasFailed(outcome) && /\[h264 @/.test(outcome.stderr);
}

/** Returns true if pictures of H.265 are missing to which others refer: its decoder makes them up. */
function lacksReference({ stderr }: FfmpegOutcome): boolean {
  return /Could not find ref with POC/.test(stderr);
}

/** Returns true if a run that tolerates errors names one within a picture, or a decoder that has filled a hole. */
function showsDamage({ stderr }: FfmpegOutcome): boolean {
  return /error while decoding|corrupt|conceal/i.test(stderr);
}

function toChunks({ format, chunks }: PipeInput): Chunks {
  return format === 'mpegts' ? renumberPackets(chunks) : chunks;
}

async function readPictures(
  outcome: FfmpegOutcome,
  input: FfmpegInput,
  mode: InputMode,
  timeoutMs: number,
  clipPath: string,
): Promise<FfmpegOutput> {
  if (isDiskFull(outcome)) throw new TransientError('The disk for temporary files is full');
  if (outcome.ended !== 'exited') throw notInLimits(outcome, mode, timeoutMs);
  const pictures = lastPictures(outcome);
  if (pictures === undefined) throw nothingDecoded(outcome, input, mode);
  if (hasHole(outcome.stdout) || hasHole(outcome.fd4)) throw damagedStream(failureMessage(mode));
  if (mode === 'frames') return pictures;
  // Joining a stream can end ffmpeg with an error after a good frame. A clip is complete only after exit code 0.
  if (outcome.exitCode !== 0) throw nothingDecoded(outcome, input, mode);
  return { ...pictures, clip: await onDisk(() => readFile(clipPath)) };
}

/** Maps file system errors to `TransientError`: an error of the local disk is not an error of the stream. */
async function onDisk<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw new TransientError('The folder for temporary files is not usable', { cause: error });
  }
}

function isDiskFull(outcome: FfmpegOutcome): boolean {
  return /No space left on device|Disk quota exceeded/i.test(outcome.stderr);
}

/** Returns true if the decoder of H.265 was not killed but ended without a word: slices of two pictures are in one. */
function endsSilently({ exitCode, stderr }: FfmpegOutcome, input: FfmpegInput): boolean {
  if (exitCode === null || exitCode === 0 || stderr.trim() !== '') return false;
  if (input.kind !== 'pipe' || input.format !== 'mpegts' || !Array.isArray(input.chunks)) return false;
  return indexAccessUnits(input.chunks)?.video.rules?.codec === 'H265';
}

function nothingDecoded(outcome: FfmpegOutcome, input: FfmpegInput, mode: InputMode): NoFrameDecodedError {
  const isDamaged =
    endsSilently(outcome, input) || /decoded frame|while decoding|to decoder/.test(outcome.stderr);
  if (isDamaged && !/non-existing/.test(outcome.stderr))
    return damagedStream(failureMessage(mode), ffmpegError(outcome));
  return new NoFrameDecodedError(
    /non-existing [SP]PS/.test(outcome.stderr)
      ? 'The stream has no parameter sets (SPS and PPS) with its newest pictures, so that no player can join it. Let the encoder send IDR pictures as key frames (closed groups, no intra refresh), or repeat its headers.'
      : 'No frame of the stream could be decoded. Check that the stream plays in a video player and that its codec is H.264, H.265, AV1, VP9 or MPEG-2.',
    failureMessage(mode),
    { cause: ffmpegError(outcome) },
  );
}

function notInLimits(outcome: FfmpegOutcome, mode: InputMode, timeoutMs: number): StreamFetchError {
  const remediation =
    outcome.ended === 'timed out'
      ? `No complete frame arrived within ${Math.round(timeoutMs / 1000)} s. Check that the stream is running and sends a key frame every few seconds, then try again.`
      : 'The stream exceeds the decoding limits. Use a stream of at most 4K and 60 frames per second.';
  return new StreamFetchError(remediation, failureMessage(mode), { cause: ffmpegError(outcome) });
}

/** Returns the message of the interface for a capture that failed after its connection. */
export function failureMessage(mode: InputMode): string {
  return mode === 'frames'
    ? 'Failed to capture frame from stream'
    : 'Failed to capture video clip from stream';
}

const loggedLength = 4096;

function ffmpegError(outcome: FfmpegOutcome): Error {
  return new Error(
    `ffmpeg ${outcome.ended}, exit code ${outcome.exitCode}: ${outcome.stderr.trim().slice(0, loggedLength)}`,
  );
}

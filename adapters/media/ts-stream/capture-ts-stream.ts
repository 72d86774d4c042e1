import { StreamFetchError } from '../../../core/errors.ts';
import type { Capture, CaptureRequest } from '../../../core/records/capture.ts';
import { EgressTimeoutError } from '../../egress/errors.ts';
import { decodeNewest, newestFrame } from '../ffmpeg/decode-frame.ts';
import {
  failureMessage,
  type FfmpegInput,
  type FfmpegOutput,
  type FfmpegRunner,
} from '../ffmpeg/run-ffmpeg.ts';
import { extractLastKeyFrame } from '../mpeg-ts/extract-key-frames.ts';
import { clipEndPtsSeconds, trimToLastSeconds } from '../mpeg-ts/trim-transport-stream.ts';
import type { RecordedFilm } from '../clips/record-on.ts';
import { beginsRefresh, indexAccessUnits } from '../mpeg-ts/access-units.ts';
import { leaveOut } from '../scan/measure-scan.ts';
import { type WebStream, VideoFileError } from '../web/open-stream.ts';
import { damagedStream, NoFrameDecodedError } from '../ffmpeg/errors.ts';
import { createWholeUnits } from '../mpeg-ts/whole-units.ts';
import {
  readPlainPackets,
  findPacket,
  isRandomAccess,
  packetBytes,
  packetPayload,
  readPid,
  startsPayloadUnit,
} from '../mpeg-ts/packet.ts';
import { mayHaveFields } from '../h264/coded-size.ts';
import { ptsDifference, ptsPerSecond, readPts } from '../mpeg-ts/pes-packet.ts';
import { createTableReader } from '../mpeg-ts/psi.ts';
import { readUnits } from '../mpeg-ts/unit-begin.ts';

export type TsStreamDeps = { ffmpeg: FfmpegRunner; now: () => Date; elapsedMs: () => number };

/** Maximum bytes that a capture reads: those of HLS. */
const maxBytes = 32 * 1024 * 1024;
/** Bytes from which a clip ends early. */
const fullBytes = 28 * 1024 * 1024;
/**
 * Time without a marked key frame after which the decoder searches for one, in seconds: some encoders mark none, and
 * slices of MPEG-2 and MPEG-4 are not read.
 */
const maxUnmarkedSeconds = 8;
const decodeTimeoutMs = 25_000;

/**
 * Captures the first key frame of an endless MPEG-TS stream, or a clip from it on. The connection is at the live edge,
 * so every capture is new.
 */
export async function captureTsStream(
  stream: WebStream,
  request: CaptureRequest,
  { ffmpeg, now, elapsedMs }: TsStreamDeps,
  signal: AbortSignal,
): Promise<Capture> {
  const { mode, clipSeconds, lookBack } = request;
  const isFrame = mode === 'frames';
  const isEnough = (watcher: UnitWatcher): boolean => {
    const hasArrived = isFrame ? watcher.hasKeyFrame() : watcher.secondsFromKeyFrame() >= clipSeconds;
    const maxSeconds = maxUnmarkedSeconds + (isFrame ? 0 : clipSeconds);
    return hasArrived || (!watcher.readsSlices() && watcher.seconds() >= maxSeconds);
  };
  const { bytes, isDamaged } = await readUntil(onlyLive(stream, elapsedMs), isEnough, mode);
  const capturedAt = now();
  const output = await decode(bytes, request, ffmpeg, signal).catch((error: unknown) => {
    throw isDamaged && error instanceof NoFrameDecodedError ? damagedStream(error.message, error) : error;
  });
  const capture = { ...output, capturedAt, position: { segment: null, segment_seconds: 0 } };
  if (!lookBack) return capture;
  const { scan, position } = leaveOut(lookBack.since, capturedAt);
  return { ...capture, scan, position: { ...capture.position, scan: position } };
}

/**
 * Records seconds of an endless MPEG-TS stream from its first key frame on, or as many as fit into the memory of a
 * capture.
 */
export async function recordTsStream(
  stream: WebStream,
  seconds: number,
  { elapsedMs }: Pick<TsStreamDeps, 'elapsedMs'>,
): Promise<RecordedFilm> {
  let shownSeconds = 0;
  const isEnough = (whole: UnitWatcher, arrived: UnitWatcher, isFull: boolean): boolean => {
    shownSeconds = whole.secondsFromKeyFrame();
    const hasNoMarks = !whole.readsSlices() && arrived.seconds() >= seconds + maxUnmarkedSeconds;
    return shownSeconds >= seconds || hasNoMarks || (isFull && whole.hasKeyFrame());
  };
  const { bytes } = await readUntil(onlyLive(stream, elapsedMs), isEnough, 'clip');
  const isHevc = indexAccessUnits([bytes])?.video.rules?.codec === 'H265';
  return { format: 'mpegts', isHevc, toChunks: () => [bytes], seconds: shownSeconds || seconds };
}

/** Checks that an endless MPEG-TS stream has video. */
export async function probeTsStream(
  stream: WebStream,
  { elapsedMs }: Pick<TsStreamDeps, 'elapsedMs'>,
): Promise<void> {
  await readUntil(onlyLive(stream, elapsedMs), (_, arrived) => arrived.units() > 0, 'frames');
}

async function decode(
  bytes: Uint8Array,
  request: CaptureRequest,
  ffmpeg: FfmpegRunner,
  signal: AbortSignal,
): Promise<FfmpegOutput> {
  const limits = { timeoutMs: decodeTimeoutMs };
  if (request.mode !== 'frames')
    return ffmpeg.run(clipInput(bytes, request.clipSeconds), request, limits, signal);
  if (beginsRefresh([bytes]))
    return decodeNewest(ffmpeg, clipInput(bytes, newestFrame.clipSeconds), limits, signal);
  const chunks = [extractLastKeyFrame(bytes) ?? bytes];
  return ffmpeg.run({ kind: 'pipe', format: 'mpegts', chunks }, request, limits, signal);
}

function clipInput(bytes: Uint8Array, seconds: number): FfmpegInput {
  const input = { kind: 'pipe', format: 'mpegts', isRefreshed: beginsRefresh([bytes]) } as const;
  const clip = trimToLastSeconds([bytes], seconds);
  return clip
    ? { ...input, chunks: clip, endsAtSeconds: clipEndPtsSeconds }
    : { ...input, chunks: [bytes], seconds };
}

/** Returns the whole access units that have arrived, once they are enough, and whether others were damaged. */
async function readUntil(
  chunks: AsyncIterable<Uint8Array>,
  isEnough: (whole: UnitWatcher, arrived: UnitWatcher, isFull: boolean) => boolean,
  mode: CaptureRequest['mode'],
): Promise<{ bytes: Uint8Array; isDamaged: boolean }> {
  const arrived = createUnitWatcher();
  const units = createWholeUnits({ isOpen: true });
  const watcher = createUnitWatcher();
  const whole: Uint8Array[] = [];
  let unread: Uint8Array[] = [];
  let [length, begun] = [0, 0];
  const read = (): void => {
    const bytes = units.read(Buffer.concat(unread));
    unread = [];
    whole.push(bytes);
    watcher.push(bytes);
    watcher.end();
  };
  const result = () => ({ bytes: Buffer.concat(whole), isDamaged: units.isDamaged() });
  try {
    for await (const chunk of chunks) {
      unread.push(chunk);
      length += chunk.length;
      arrived.push(chunk);
      // An access unit is whole once another one begins: a part of one would be read again and again.
      if (arrived.units() > begun) read();
      begun = arrived.units();
      if (isEnough(watcher, arrived, length > fullBytes)) return result();
      if (length > maxBytes) throw units.isDamaged() ? damagedStream(failureMessage(mode)) : tooMuch(mode);
    }
  } catch (error) {
    if (!(error instanceof StreamFetchError && error.cause instanceof EgressTimeoutError)) throw error;
    throw units.isDamaged() ? damagedStream(failureMessage(mode), error) : tooLate(arrived, mode, error);
  }
  if (arrived.units() === 0) throw withoutVideo(mode);
  read();
  return result();
}

function tooMuch(mode: CaptureRequest['mode']): StreamFetchError {
  return new StreamFetchError(
    `The stream sent ${maxBytes / 1024 / 1024} MB without what a check needs. Use a stream of lower bit rate, a shorter clip, or a key frame every 2 s.`,
    failureMessage(mode),
  );
}

function tooLate(watcher: UnitWatcher, mode: CaptureRequest['mode'], cause: unknown): StreamFetchError {
  if (watcher.units() === 0) return withoutVideo(mode, cause);
  return new StreamFetchError(
    'No key frame arrived in time. Set the key frame interval of the encoder to 2 s.',
    failureMessage(mode),
    { cause },
  );
}

function withoutVideo(mode: CaptureRequest['mode'], cause?: unknown): StreamFetchError {
  return new StreamFetchError(
    'The MPEG transport stream sent no video of one program. Check that the encoder runs, and that the stream has H.264, H.265, MPEG-2 or MPEG-4.',
    failureMessage(mode),
    { cause },
  );
}

/** Time for which the pace of a response is watched, in milliseconds. */
const watchedMs = 1_500;
/** Seconds of a stream that a server has stored for a new viewer. */
const storedSeconds = 6;

/**
 * Yields the packets of a stream, and ends its connection. Some servers state a length of live ones: those arrive as
 * fast as they pass. Throws `VideoFileError` for one that arrives faster, or ends.
 */
async function* onlyLive(
  { chunks, headers, close }: WebStream,
  elapsedMs: () => number,
): AsyncGenerator<Uint8Array> {
  const watcher = createUnitWatcher();
  const held: Uint8Array[] = [];
  const beganMs = elapsedMs();
  let isWatched = headers['content-length'] !== undefined;
  try {
    for await (const chunk of readPlainPackets(chunks)) {
      held.push(chunk);
      if (isWatched) watcher.push(chunk);
      const seconds = (elapsedMs() - beganMs) / 1000;
      if (isWatched && watcher.seconds() > 2 * seconds + storedSeconds) throw new VideoFileError();
      isWatched &&= seconds * 1000 < watchedMs;
      if (!isWatched) yield* held.splice(0);
    }
  } finally {
    close();
  }
  if (isWatched) throw new VideoFileError();
}

/** Watcher of an MPEG-TS stream that arrives, by the starts of its access units. */
type UnitWatcher = ReturnType<typeof createUnitWatcher>;

/** Access unit that has begun, with the payloads of its first packets. */
type BegunUnit = { payloads: Uint8Array[]; isMarked: boolean; pts: number | null };

/** Packets of an access unit that are read for its kind. */
const maxPackets = 16;

/** Creates a watcher. It holds at most the first packets of an access unit. */
export function createUnitWatcher() {
  let rest = Buffer.alloc(0);
  const tables = createTableReader();
  /** First packets of the newest access unit. */
  let begun: BegunUnit | null = null;
  /**
   * Reference frames until a picture is whole; undefined before the first key frame, or the begin of an intra refresh.
   */
  let recoveryFrames: number | undefined;
  let hasMarks = false;
  let units = 0;
  let isWhole = false;
  let firstPts: number | null = null;
  let keyFramePts: number | null = null;
  let [seconds, secondsFromKeyFrame] = [0, 0];
  return {
    /** Reads the next bytes of the stream, from any place in a packet. */
    push(chunk: Uint8Array): void {
      const bytes = Buffer.concat([rest, chunk]);
      let offset = findPacket(bytes, 0);
      for (; offset + 2 * packetBytes <= bytes.length; offset = findPacket(bytes, offset + packetBytes))
        readPacket(bytes.subarray(offset, offset + packetBytes));
      rest = Buffer.from(bytes.subarray(Math.max(offset, bytes.length - 2 * packetBytes)));
    },
    /** Ends the access unit under way: all of it has arrived. */
    end(): void {
      if (rest.length >= packetBytes) readPacket(rest.subarray(0, packetBytes));
      rest = Buffer.alloc(0);
      if (begun && !isWhole) endUnit(begun);
      begun = null;
    },
    /** Access units of video that have begun. */
    units: () => units,
    /** Returns true if a key frame is found without a mark: its slices are read. */
    readsSlices: () => Boolean(tables.video()?.rules),
    /**
     * Returns true if a key frame has arrived whole: an access unit follows it. With intra refresh, the first whole
     * picture counts.
     */
    hasKeyFrame: () => isWhole,
    /** Time from the first key frame or whole picture to the newest frame, in seconds; 0 without one. */
    secondsFromKeyFrame: () => secondsFromKeyFrame,
    /** Time from the first frame to the newest one, in seconds. */
    seconds: () => seconds,
  };

  function readPacket(packet: Uint8Array): void {
    if (tables.read(packet)) return;
    if (readPid(packet) !== tables.video()?.pid) return;
    if (startsPayloadUnit(packet)) beginUnit(packet);
    else if (!isWhole && begun && begun.payloads.length < maxPackets)
      begun.payloads.push(packetPayload(packet));
  }

  function beginUnit(packet: Uint8Array): void {
    const payload = packetPayload(packet);
    const pts = readPts(payload);
    const isMarked = isRandomAccess(packet);
    hasMarks ||= isMarked;
    if (pts === null && !isMarked) return;
    if (begun && !isWhole) endUnit(begun);
    begun = { payloads: [payload], isMarked, pts };
    units += 1;
    if (pts === null) return;
    firstPts ??= pts;
    seconds = Math.max(seconds, ptsDifference(firstPts, pts) / ptsPerSecond);
    if (keyFramePts !== null)
      secondsFromKeyFrame = Math.max(secondsFromKeyFrame, ptsDifference(keyFramePts, pts) / ptsPerSecond);
  }

  function endUnit({ payloads, isMarked, pts }: BegunUnit): void {
    if (!isMarked && recoveryFrames === undefined && hasMarks) return;
    const rules = tables.video()?.rules;
    const unit = rules ? readUnits(payloads, rules) : null;
    // Some servers mark no key frames.
    if (!isMarked && recoveryFrames === undefined && unit?.entryPoint()?.recoveryFrames !== 0) return;
    // The second field of interlaced video may be a unit of its own.
    const fields = rules && mayHaveFields(unit?.sequenceSet(), rules) ? 1 : 0;
    if (recoveryFrames === undefined) recoveryFrames = fields + (unit?.entryPoint()?.recoveryFrames ?? 0);
    else if (unit?.isReference() ?? true) recoveryFrames -= 1;
    if (recoveryFrames > 0) return;
    isWhole = true;
    keyFramePts = pts;
  }
}

import type { CaptureRequest, Scan } from '../../../../core/records/capture.ts';
import { decodeKeyFrame } from '../../ffmpeg/decode-frame.ts';
import type { FfmpegOutput, FfmpegRunner, KeyFramePicture } from '../../ffmpeg/run-ffmpeg.ts';
import { lastFramePts } from '../../mpeg-ts/trim-transport-stream.ts';
import {
  boundedSeconds,
  leaveOut,
  longestDistance,
  maxPictureBytes,
  minDistanceSeconds,
  sparseSeconds,
  formatPosition,
  parsePosition,
  type ScanPosition,
} from '../../scan/measure-scan.ts';
import { createScannedFrame } from '../../scan/frame-pictures.ts';
import { ptsPerSecond } from '../../mpeg-ts/pes-packet.ts';
import { type TimedUnit, writeTransportStream } from '../../mpeg-ts/write-transport-stream.ts';
import type { AccessUnit } from '../rtp/access-unit-assembler.ts';
import { findDecoded, keyFrameInput } from './follow-session.ts';
import { rtpDifference } from '../rtp/rtp-packet.ts';
import type { SessionUnits } from '../session/rtsp-sessions.ts';
import type { NumberedGroup } from '../session/key-frame-store.ts';
import type { SessionTrack } from '../session/open-sessions.ts';

/** Scan of a capture, and the position after it. `newest` is the picture of the capture, if the scan has decoded it. */
export type SessionScan = { scan: Scan; position: string; newest?: FfmpegOutput | undefined };

const timeoutMs = 10_000;
/** Maximum difference between the clock of a camera and the arrival. Beyond it, the camera has another clock now. */
const maxClockMs = 5_000;
/** Difference of the times of one frame: they are rounded, and a frame lasts 17 ms or more. */
const sameMs = 8;

/**
 * Scans the key frames that a session has received since the position, and the frames between them if they are far
 * apart. Never fails: what cannot be decoded is left out. Throws the abort reason.
 */
export async function scanSession(
  read: SessionUnits,
  capturedAt: Date,
  { lookBack, caller }: CaptureRequest,
  ffmpeg: FfmpegRunner,
  signal: AbortSignal,
): Promise<SessionScan> {
  const since = lookBack?.since ?? null;
  const newest = findNewest(read.units);
  if (read.since === undefined || newest === undefined) return leaveOut(since, capturedAt);
  const { sessionId, units, isWhole } = read.since;
  const captureMs = capturedAt.getTime();
  const segment = formatPlace(read.since, newest);
  const position = formatPosition({ rendition: sessionId, segment, atMs: captureMs });
  const before = parsePosition(since);
  if (before === null) return { ...leaveOut(null, capturedAt), position };
  const dated = units
    .map((unit) => ({ unit, atMs: captureMs - millisecondsBetween(unit, newest, read.clockRate) }))
    .filter(({ atMs }) => atMs <= captureMs - minDistanceSeconds * 1000 && (isWhole || atMs > before.atMs));
  const timed = timeUnits(dated);
  const decodedBefore = dated.map(({ unit }) => findDecoded(unit, caller));
  const missing = timed.filter((_, index) => decodedBefore[index] === undefined);
  const others = (await decode(missing, read, { ffmpeg, caller }, signal)).values();
  const pictures = decodedBefore.map((picture) => picture ?? others.next().value);
  const keyFrames = dated.flatMap(({ atMs }, index) => {
    const picture = pictures[index];
    return picture ? { ...picture, atMs, unit: timed[index] } : [];
  });
  const isSparse = hasSparse(read.since, newest);
  const scanned = { newest, captureMs, before };
  const between = (isSparse && (await scanBetween(read, scanned, ffmpeg, signal))) || null;
  const frames = limitPictures([
    ...keyFrames,
    ...(between ?? []).filter(({ atMs }) => atMs < captureMs - sameMs && (isWhole || atMs > before.atMs)),
  ]);
  const firstMs = isWhole ? before.atMs : (frames[0]?.atMs ?? captureMs);
  const fromMs = dated.length > 0 && frames.length === 0 ? captureMs : firstMs;
  const readPicture = async ({ frame, unit }: FoundFrame, aborts: AbortSignal) =>
    frame || !unit
      ? frame
      : decodeKeyFrame(ffmpeg, keyFrameInput(read.codec, [unit]), { caller, timeoutMs }, aborts);
  return {
    scan: {
      frames: frames.map((frame) =>
        createScannedFrame(frame.atMs, frame.thumbnail, (aborts) => readPicture(frame, aborts)),
      ),
      coveredSeconds: boundedSeconds(fromMs, captureMs),
      leftOutSeconds: boundedSeconds(before.atMs, fromMs),
      distanceSeconds: Math.max(
        longestDistance([...(between ? [fromMs] : []), ...frames.map(({ atMs }) => atMs), captureMs]),
        isSparse && !between ? read.since.keyFrameSeconds : 0,
      ),
    },
    position,
    newest: between?.find(({ atMs }) => Math.abs(atMs - captureMs) <= sameMs),
  };
}

/** Returns the frame that is shown last: with B-frames, that is not the one which arrived last. */
function findNewest(units: readonly AccessUnit[]): AccessUnit | undefined {
  return units.reduce<AccessUnit | undefined>(
    (latest, unit) => (latest && rtpDifference(latest.timestamp, unit.timestamp) <= 0 ? latest : unit),
    undefined,
  );
}

type Since = NonNullable<SessionUnits['since']>;

/** Returns true if key frames are so far apart that a scan decodes the frames between them. */
function hasSparse({ groups, keyFrameSeconds }: Since, newest: AccessUnit): boolean {
  const [keyFrame = newest] = groups.at(-1)?.units ?? [];
  const sinceMs = newest.arrivedMs - keyFrame.arrivedMs;
  return groups.length > 1 || Math.max(sinceMs / 1000, keyFrameSeconds) > sparseSeconds;
}

/** Returns the place of a frame in its session: number of its key frame, and RTP clock units from there. */
function formatPlace({ newest: number, groups }: Since, newest: AccessUnit): string {
  const [keyFrame] = groups.at(-1)?.units ?? [];
  const ticks = keyFrame ? rtpDifference(keyFrame.timestamp, newest.timestamp) : 0;
  return ticks > 0 ? `${number}+${ticks}` : `${number}`;
}

type Scanned = { newest: AccessUnit; captureMs: number; before: ScanPosition };

/** Decodes frames between key frames that are far apart, without those up to the position. */
async function scanBetween(
  read: SessionUnits,
  { newest, captureMs, before }: Scanned,
  ffmpeg: FfmpegRunner,
  signal: AbortSignal,
): Promise<DatedPicture[] | null> {
  const { groups = [], sessionId } = read.since ?? {};
  const [seenNumber, seenTicks = 0] =
    before.rendition === sessionId ? before.segment.split('+').map(Number) : [];
  const dated = groups.flatMap(({ number, units }, index) => {
    const [keyFrame] = units;
    const isPast = ({ timestamp }: AccessUnit) => rtpDifference(timestamp, newest.timestamp) >= 0;
    const shown = index < groups.length - 1 ? units : units.filter(isPast);
    if (keyFrame === undefined || shown.length < 2) return [];
    const atMs = captureMs - millisecondsBetween(keyFrame, newest, read.clockRate);
    return [{ number, units: shown, atMs, seenTicks: number === seenNumber ? seenTicks : 0 }];
  });
  return scanGroups(dated, read, captureMs, ffmpeg, signal);
}

type FoundFrame = KeyFramePicture & { atMs: number; unit?: TimedUnit | undefined };

/** Returns frames in the order of their times. The oldest ones have no picture if all together are too large. */
function limitPictures(frames: readonly FoundFrame[]): FoundFrame[] {
  let leftBytes = maxPictureBytes;
  return frames
    .toSorted((one, other) => other.atMs - one.atMs)
    .map((each) => {
      leftBytes -= (each.frame ?? each.unit?.bytes)?.length ?? 0;
      return leftBytes >= 0 ? each : { ...each, frame: null, unit: undefined };
    })
    .toReversed();
}

type DatedUnit = { unit: AccessUnit; atMs: number };

/** Converts times of key frames to timestamps of MPEG-TS. */
function timeUnits(dated: readonly DatedUnit[]): TimedUnit[] {
  const lastMs = dated.at(-1)?.atMs ?? 0;
  return dated.map(({ unit: { bytes }, atMs }) => {
    const pts = lastFramePts - Math.round(((lastMs - atMs) * ptsPerSecond) / 1000);
    return { bytes, isKeyFrame: true, pts };
  });
}

type Decoding = { ffmpeg: FfmpegRunner; caller: string | undefined };

/** Decodes key frames, each in the shared decoder of the caller. `null` stands for one that cannot be decoded. */
async function decode(
  units: readonly TimedUnit[],
  { codec }: SessionUnits,
  { ffmpeg, caller }: Decoding,
  signal: AbortSignal,
): Promise<(KeyFramePicture | null)[]> {
  if (units.length === 0) return [];
  try {
    const input = keyFrameInput(codec, units);
    const outputs = await ffmpeg.runAll(input, { caller, isEach: true }, { timeoutMs }, signal);
    return outputs.length === units.length ? outputs : [];
  } catch {
    signal.throwIfAborted();
    return [];
  }
}

/** Returns the time from one unit to a later one: by the clock of the camera, which network delays do not change. */
function millisecondsBetween(unit: AccessUnit, later: AccessUnit, clockRate: number): number {
  const arrivedMs = later.arrivedMs - unit.arrivedMs;
  const clockMs = (rtpDifference(unit.timestamp, later.timestamp) * 1000) / clockRate;
  return Math.abs(clockMs - arrivedMs) <= maxClockMs ? clockMs : arrivedMs;
}

/** Group of pictures with the time of its key frame, and the frame up to which an earlier scan has seen it. */
type DatedGroup = NumberedGroup & { atMs: number; seenTicks: number };

/** Frame between two key frames. */
type DatedPicture = FfmpegOutput & { atMs: number };

/** Maximum frames of all groups of a scan: two groups of 20 s. */
const maxUnits = 1_200;
const groupsTimeoutMs = 5_000;
/**
 * Time of the frame of the capture on the clock of the groups, in seconds: a whole one, so that it is one of the
 * frames, with a reserve for rounding.
 */
const captureSeconds = 3600.001;

/**
 * Decodes the frames of groups at one a second before the capture, the newest groups first. Leaves out what the host
 * has no time for, and the rest of a group from a damaged frame on. The frame of the capture itself is among them.
 * Returns null if the host has no time for any. Throws the abort reason.
 */
export async function scanGroups(
  groups: readonly DatedGroup[],
  { codec, clockRate }: SessionTrack,
  captureMs: number,
  ffmpeg: FfmpegRunner,
  signal: AbortSignal,
): Promise<DatedPicture[] | null> {
  let readable: DatedPicture[] | null = null;
  const endMs = performance.now() + groupsTimeoutMs;
  let leftUnits = maxUnits;
  for (const { units, atMs, seenTicks } of groups.toReversed()) {
    const [keyFrame] = units;
    const leftMs = Math.round(endMs - performance.now());
    leftUnits -= units.length;
    if (!keyFrame || !ffmpeg.runEachSecond || leftUnits < 0 || leftMs <= 0) break;
    const keyFrameSeconds = captureSeconds - (captureMs - atMs) / 1000;
    const timed = units.flatMap(({ bytes, isKeyFrame, timestamp }) => {
      const ticks = rtpDifference(keyFrame.timestamp, timestamp);
      // Frames that are shown before the key frame of an open group refer to the group before.
      if (ticks < 0) return [];
      return { bytes, isKeyFrame, pts: Math.round((keyFrameSeconds + ticks / clockRate) * ptsPerSecond) };
    });
    const chunks = [writeTransportStream(codec, timed)];
    const input = { kind: 'pipe', format: 'mpegts', chunks } as const;
    const clock = { fromSeconds: keyFrameSeconds + seenTicks / clockRate, isRebased: false };
    const pictures = await ffmpeg
      .runEachSecond(input, clock, { timeoutMs: leftMs }, signal)
      .catch(() => signal.throwIfAborted());
    if (!pictures) break;
    readable ??= [];
    for (const { seconds, ...picture } of pictures)
      readable.push({ ...picture, atMs: captureMs + Math.round((seconds - captureSeconds) * 1000) });
  }
  return readable;
}

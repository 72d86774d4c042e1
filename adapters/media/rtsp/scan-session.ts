import type { CaptureRequest, Scan } from '../../../core/records/capture.ts';
import { decodeKeyFrame } from '../ffmpeg/decode-key-frame.ts';
import type { FfmpegRunner, KeyFramePicture } from '../ffmpeg/run-ffmpeg.ts';
import { lastFramePts } from '../hls/trim-transport-stream.ts';
import { formatPosition, parsePosition } from '../hls/scan-position.ts';
import { ptsPerSecond } from '../mpeg-ts/pes-packet.ts';
import { writeTransportStream } from '../mpeg-ts/write-transport-stream.ts';
import type { AccessUnit } from './access-unit-assembler.ts';
import { rtpDifference } from './rtp-packet.ts';
import { findDecoded } from './follow-session.ts';
import type { SessionUnits } from './rtsp-sessions.ts';

/** Scan of a capture, and the position after it. */
export type SessionScan = { scan: Scan; position: string };

const timeoutMs = 10_000;
/** Frames nearer than this to the frame of the capture show the same. */
const minDistanceMs = 870;
/** Maximum difference between the clock of a camera and the arrival. Beyond it, the camera has another clock now. */
const maxClockMs = 5_000;
const maxPictureBytes = 12 * 1024 * 1024;
const maxLeftOutSeconds = 3600;
/** Stands for a session or key frame that is unknown. */
const unknown = '?';

/** Returns the scan of a capture without a session: the time since the position is left out. */
export function leaveOut(since: string | null, capturedAt: Date): SessionScan {
  const atMs = capturedAt.getTime();
  return {
    scan: {
      frames: [],
      coveredSeconds: 0,
      leftOutSeconds: secondsBetween(parsePosition(since)?.atMs ?? atMs, atMs),
      distanceSeconds: 0,
      picture: async () => null,
    },
    position: formatPosition({ rendition: unknown, segment: unknown, atMs }),
  };
}

/** Scans the key frames that a session has received since the position. Never fails: what cannot be decoded is left out. Throws the abort reason. */
export async function scanSession(
  read: SessionUnits,
  capturedAt: Date,
  { lookBack, caller }: CaptureRequest,
  ffmpeg: FfmpegRunner,
  signal: AbortSignal,
): Promise<SessionScan> {
  const since = lookBack?.since ?? null;
  const newest = read.units.at(-1);
  if (read.since === undefined || newest === undefined) return leaveOut(since, capturedAt);
  const { sessionId, units, isWhole, newest: number } = read.since;
  const captureMs = capturedAt.getTime();
  const position = formatPosition({ rendition: sessionId, segment: `${number}`, atMs: captureMs });
  const before = parsePosition(since);
  if (before === null) return { ...leaveOut(null, capturedAt), position };
  const dated = units
    .map((unit) => ({ unit, atMs: captureMs - millisecondsBetween(unit, newest, read.clockRate) }))
    .filter(({ atMs }) => atMs <= captureMs - minDistanceMs && (isWhole || atMs > before.atMs));
  const chunks = writeChunks(dated, read);
  const known = dated.map(({ unit }) => findDecoded(unit, caller));
  const missing = chunks.filter((_, index) => known[index] === undefined);
  const others = (await decode(missing, { ffmpeg, caller }, signal)).values();
  const pictures = known.map((picture) => picture ?? others.next().value);
  let leftBytes = maxPictureBytes;
  const frames = dated
    .flatMap(({ atMs }, index) => {
      const picture = pictures[index];
      return picture ? { ...picture, atMs, chunk: chunks[index] } : [];
    })
    .toReversed()
    .map((each) => {
      leftBytes -= (each.frame ?? each.chunk)?.length ?? 0;
      return leftBytes >= 0 ? each : { ...each, frame: null, chunk: undefined };
    })
    .toReversed();
  const firstMs = isWhole ? before.atMs : (frames[0]?.atMs ?? captureMs);
  const fromMs = dated.length > 0 && frames.length === 0 ? captureMs : firstMs;
  return {
    scan: {
      frames: frames.map(({ atMs, thumbnail }) => ({ at: new Date(atMs), thumbnail })),
      coveredSeconds: secondsBetween(fromMs, captureMs),
      leftOutSeconds: secondsBetween(before.atMs, fromMs),
      distanceSeconds: longestDistance([...frames.map(({ atMs }) => atMs), captureMs]),
      picture: async (index, signal) => {
        const { frame = null, chunk } = frames[index] ?? {};
        return frame ?? (chunk ? decodeKeyFrame(ffmpeg, chunk, { caller, timeoutMs }, signal) : null);
      },
    },
    position,
  };
}

type DatedUnit = { unit: AccessUnit; atMs: number };

/** Writes each key frame as a stream of its own. */
function writeChunks(dated: readonly DatedUnit[], { codec }: SessionUnits): Uint8Array[] {
  const lastMs = dated.at(-1)?.atMs ?? 0;
  return dated.map(({ unit, atMs }) => {
    const pts = lastFramePts - Math.round(((lastMs - atMs) * ptsPerSecond) / 1000);
    return writeTransportStream(codec, [{ bytes: unit.bytes, isKeyFrame: true, pts }]);
  });
}

type Decoding = { ffmpeg: FfmpegRunner; caller: string | undefined };

/** Decodes key frames, each in the shared decoder of the caller. `null` stands for one that cannot be decoded. */
async function decode(
  chunks: Uint8Array[],
  { ffmpeg, caller }: Decoding,
  signal: AbortSignal,
): Promise<(KeyFramePicture | null)[]> {
  if (chunks.length === 0) return [];
  try {
    const input = { kind: 'pipe', format: 'mpegts', chunks } as const;
    const outputs = await ffmpeg.runAll(input, { caller }, { timeoutMs }, signal);
    const missing = Array.from({ length: Math.max(0, chunks.length - outputs.length) }, () => null);
    return [...missing, ...outputs].slice(-chunks.length);
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

function secondsBetween(fromMs: number, toMs: number): number {
  return Math.min(Math.max(0, toMs - fromMs) / 1000, maxLeftOutSeconds);
}

function longestDistance(timesMs: number[]): number {
  return (
    timesMs.reduce((longest, atMs, index) => Math.max(longest, atMs - (timesMs[index - 1] ?? atMs)), 0) / 1000
  );
}

import type { ClipRequest, ClipResult } from '../../../core/records/clip.ts';
import { setSystemTimer, type SetTimer } from '../../../core/time-limit.ts';
import type { ClipDeps } from '../clips/read-clip.ts';
import { recordOn, type RecordedFilm } from '../clips/record-on.ts';
import { writeTransportStream } from '../mpeg-ts/write-transport-stream.ts';
import { describeRtsp, type DescribeOptions, type DescribedStream } from './connection/describe.ts';
import { RtspConnectionError, rtspStreamError } from './protocol/errors.ts';
import { nalRules, type NalRules } from './rtp/nal-units.ts';
import { maxSessionBytes, noFrame, workAtMost, type SessionUnits } from './session/rtsp-sessions.ts';
import { type KeptSession, type ReadUnits, openKeptSession } from './session/kept-session.ts';
import { createKeyFrameMemory } from './session/key-frame-store.ts';
import { createSessionMemory } from './session/session-memory.ts';
import type { CaptureRequest } from '../../../core/records/capture.ts';
import { decodeNewest } from '../ffmpeg/decode-frame.ts';
import type { FfmpegOutput, FfmpegRunner } from '../ffmpeg/run-ffmpeg.ts';
import { clipEndPtsSeconds, lastFramePts } from '../mpeg-ts/trim-transport-stream.ts';
import { ptsPerSecond } from '../mpeg-ts/pes-packet.ts';
import { rtpDifference } from './rtp/rtp-packet.ts';
import { keyFrameInput } from './scan/follow-session.ts';

/** Time for the first key frame of a clip, beside its length, in milliseconds. */
const keyFrameMs = 8_000;

/** Records a clip from its opening on, with a connection of its own: for hosts without sessions. */
export async function recordRtsp(
  deps: DescribeOptions & Omit<ClipDeps, 'kept'> & { setTimer?: SetTimer },
  request: ClipRequest,
  signal: AbortSignal,
): Promise<ClipResult> {
  const record = async (seconds: number): Promise<RecordedFilm | null> => {
    const stream = await describeRtsp(request, deps, signal);
    const rules = nalRules(stream.track);
    if (!rules) {
      stream.client.close();
      return null;
    }
    const session = await openOwnSession(stream, rules, request.caller, signal);
    try {
      const read = await readLongest(session, seconds, { ...deps, request }, signal).catch(
        (error: unknown) => {
          throw error instanceof RtspConnectionError ? noFrame({ mode: 'clip' }, error) : error;
        },
      );
      const { codec } = rules;
      const units = timeUnits({ ...read, clockRate: stream.track.clockRate });
      const pts = units.map((unit) => unit.pts);
      return {
        format: 'mpegts',
        isHevc: codec === 'H265',
        toChunks: () => [writeTransportStream(codec, units)],
        seconds: (Math.max(...pts) - Math.min(...pts)) / 90_000,
        ageMs: read.ageMs,
      };
    } finally {
      void session.close();
    }
  };
  return recordOn(deps, request, record, signal);
}

/**
 * Returns the newest seconds of a session, once it has so many; what its memory holds of them if that time does not
 * come.
 */
async function readLongest(
  session: KeptSession,
  seconds: number,
  { request, setTimer = setSystemTimer }: { request: ClipRequest; setTimer?: SetTimer },
  signal: AbortSignal,
): Promise<ReadUnits> {
  const { url, caller } = request;
  for (let clipSeconds = seconds, waitMs = seconds * 1000 + keyFrameMs; ; clipSeconds /= 2, waitMs = 500) {
    const capture = { url, caller, mode: 'clip', clipSeconds, resolveAgain: false } as const;
    const read = await workAtMost(waitMs, (bounded) => session.read(capture, bounded), signal, setTimer);
    if (read) return read;
    if (clipSeconds < 1) return session.read({ ...capture, mode: 'frames' }, signal);
  }
}

/** Opens a session for one capture or clip. Packets are read here: a decoder conceals what is missing of them. */
export async function openOwnSession(
  stream: DescribedStream,
  rules: NalRules,
  caller: string,
  signal: AbortSignal,
): Promise<KeptSession> {
  const memory = createSessionMemory(maxSessionBytes);
  const limits = { caller, memory, maxBytes: maxSessionBytes, keyFrames: createKeyFrameMemory(0) };
  return setUp(stream, signal, () =>
    openKeptSession(stream, rules, { ...limits, elapsedMs: () => performance.now() }),
  );
}

/** Sets up the track. Closes the connection on failure. */
export async function setUp<Opened>(
  stream: DescribedStream,
  signal: AbortSignal,
  open: () => Promise<Opened>,
): Promise<Opened> {
  try {
    return await open();
  } catch (error) {
    stream.client.close();
    signal.throwIfAborted();
    throw rtspStreamError(error, stream.target);
  }
}

const timeoutMs = 25_000;

/**
 * Decodes access units of a session like segments of HLS: MPEG-TS through a pipe, so that decoders that stay and spare
 * processes serve them. ffmpeg opens no connection.
 */
export async function decodeSession(
  read: SessionUnits,
  request: CaptureRequest,
  ffmpeg: FfmpegRunner,
  signal: AbortSignal,
): Promise<FfmpegOutput> {
  const units = timeUnits(read);
  if (read.kind === 'key frame')
    return ffmpeg.run(keyFrameInput(read.codec, units), request, { timeoutMs }, signal);
  const chunks = [writeTransportStream(read.codec, units)];
  const isRefreshed = read.units.some(({ recoveryFrames }) => recoveryFrames !== undefined);
  const ended = {
    kind: 'pipe',
    format: 'mpegts',
    chunks,
    endsAtSeconds: clipEndPtsSeconds,
    isRefreshed,
  } as const;
  if (read.kind === 'clip') return ffmpeg.run(ended, request, { timeoutMs }, signal);
  return decodeNewest(ffmpeg, ended, { timeoutMs }, signal);
}

/** Converts timestamps to those of MPEG-TS. The newest frame always has the same. */
function timeUnits({ units, clockRate }: Pick<SessionUnits, 'units' | 'clockRate'>) {
  const [first] = units;
  const offsets = units.map((unit) => rtpDifference(first?.timestamp ?? 0, unit.timestamp));
  const newest = offsets.reduce((most, offset) => Math.max(most, offset), 0);
  return units.map(({ bytes, isKeyFrame }, index) => ({
    bytes,
    isKeyFrame,
    pts: lastFramePts - Math.round(((newest - (offsets[index] ?? 0)) * ptsPerSecond) / clockRate),
  }));
}

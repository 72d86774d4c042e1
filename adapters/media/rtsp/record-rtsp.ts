import type { ClipRequest, ClipResult } from '../../../core/records/clip.ts';
import { setSystemTimer, type SetTimer } from '../../../core/time-limit.ts';
import type { ClipDeps } from '../clips/read-clip.ts';
import { recordOn, type RecordedFilm } from '../clips/record-on.ts';
import { writeTransportStream } from '../mpeg-ts/write-transport-stream.ts';
import { describeRtsp, type DescribeOptions, type DescribedStream } from './connection/describe.ts';
import { timeUnits } from './decode-session.ts';
import { RtspConnectionError } from './protocol/errors.ts';
import { nalRules, type NalRules } from './rtp/nal-units.ts';
import { maxSessionBytes, noFrame, workAtMost } from './session/rtsp-sessions.ts';
import { type KeptSession, type ReadUnits, openKeptSession } from './session/kept-session.ts';
import { rtspStreamError } from './protocol/stream-error.ts';
import { createKeyFrameMemory } from './session/key-frame-store.ts';
import { createSessionMemory } from './session/session-memory.ts';

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

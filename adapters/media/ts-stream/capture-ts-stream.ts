import { StreamFetchError } from '../../../core/errors.ts';
import type { Capture, CaptureRequest } from '../../../core/records/capture.ts';
import { EgressTimeoutError } from '../../egress/errors.ts';
import { failureMessage, type FfmpegRunner } from '../ffmpeg/run-ffmpeg.ts';
import { extractLastKeyFrame } from '../hls/extract-last-key-frame.ts';
import { clipEndPtsSeconds, trimToLastSeconds } from '../hls/trim-transport-stream.ts';
import { findPacket } from '../mpeg-ts/packet.ts';
import { leaveOut } from '../rtsp/scan-session.ts';
import type { WebStream } from '../web/open-stream.ts';
import { createUnitWatcher, type UnitWatcher } from './watch-units.ts';

export type TsStreamDeps = { ffmpeg: FfmpegRunner; now: () => Date };

/** Maximum bytes that a capture reads: those of HLS. */
const maxBytes = 32 * 1024 * 1024;
/** Time without a marked key frame after which the decoder searches for one, in seconds: some encoders mark none. */
const maxUnmarkedSeconds = 8;
const decodeTimeoutMs = 25_000;

/** Captures the first key frame of an endless MPEG-TS stream, or a clip from it on. The connection is at the live edge, so every capture is new. */
export async function captureTsStream(
  stream: WebStream,
  request: CaptureRequest,
  { ffmpeg, now }: TsStreamDeps,
  signal: AbortSignal,
): Promise<Capture> {
  const { mode, clipSeconds, lookBack } = request;
  const isFrame = mode === 'frames';
  const isEnough = (watcher: UnitWatcher): boolean =>
    isFrame
      ? watcher.hasKeyFrame() || watcher.seconds() >= maxUnmarkedSeconds
      : watcher.secondsFromKeyFrame() >= clipSeconds || watcher.seconds() >= maxUnmarkedSeconds + clipSeconds;
  const bytes = await readUntil(stream, isEnough, mode);
  const capturedAt = now();
  const input = { kind: 'pipe', format: 'mpegts' } as const;
  const output = await ffmpeg.run(
    isFrame
      ? { ...input, chunks: [extractLastKeyFrame(bytes) ?? bytes] }
      : { ...input, ...clipInput(bytes, clipSeconds) },
    request,
    { timeoutMs: decodeTimeoutMs },
    signal,
  );
  const capture = { ...output, capturedAt, position: { segment: null, segment_seconds: 0 } };
  if (!lookBack) return capture;
  const { scan, position } = leaveOut(lookBack.since, capturedAt);
  return { ...capture, scan, position: { ...capture.position, scan: position } };
}

/** Checks that an endless MPEG-TS stream has video. */
export async function probeTsStream(stream: WebStream): Promise<void> {
  await readUntil(stream, (watcher) => watcher.units() > 0, 'frames');
}

function clipInput(bytes: Uint8Array, seconds: number) {
  const clip = trimToLastSeconds([bytes], seconds);
  return clip ? { chunks: clip, endsAtSeconds: clipEndPtsSeconds } : { chunks: [bytes], seconds };
}

/** Returns the bytes from the first packet on, until they are enough. Ends the connection. */
async function readUntil(
  { chunks, close }: WebStream,
  isEnough: (watcher: UnitWatcher) => boolean,
  mode: CaptureRequest['mode'],
): Promise<Uint8Array> {
  const watcher = createUnitWatcher();
  const parts: Uint8Array[] = [];
  let length = 0;
  try {
    for await (const chunk of chunks) {
      parts.push(chunk);
      length += chunk.length;
      watcher.push(chunk);
      if (isEnough(watcher)) break;
      if (length > maxBytes) throw tooMuch(mode);
    }
  } catch (error) {
    throw error instanceof StreamFetchError && error.cause instanceof EgressTimeoutError
      ? tooLate(watcher, mode, error)
      : error;
  } finally {
    close();
  }
  if (watcher.units() === 0) throw withoutVideo(mode);
  const bytes = Buffer.concat(parts);
  return bytes.subarray(findPacket(bytes, 0));
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

import { createHash } from 'node:crypto';
import type { Capture, CaptureRequest, StreamPosition } from '../../../core/records/capture.ts';
import { StreamFetchError } from '../../../core/errors.ts';
import { damagedStream, NoFrameDecodedError } from '../ffmpeg/errors.ts';
import { decodeNewest, newestFrame } from '../ffmpeg/decode-frame.ts';
import {
  failureMessage,
  type FfmpegOutput,
  type FfmpegRunner,
  type FfmpegInput,
} from '../ffmpeg/run-ffmpeg.ts';
import { captureTime, streamPosition, withContent } from './segments/stream-position.ts';
import { fetchSegments, type SegmentFetcher, type ResourceCache } from './segments/fetch-segments.ts';
import { createKeyFrameTracker, type KeyFrameTracker } from './segments/key-frame-tracker.ts';
import type { MediaPlaylist, Segment } from './playlist/playlist.ts';
import { readSegment, type ReadSegment } from './scan/read-segment.ts';
import { beginsRefresh, indexAccessUnits } from '../mpeg-ts/access-units.ts';
import { AudioOnlyError, isAudioOnly, segmentFormat } from './segments/segment-format.ts';
import { extractLastKeyFrame } from '../mpeg-ts/extract-key-frames.ts';
import { beginsRefreshMp4 } from './segments/mp4-key-frames.ts';
import { clipEndPtsSeconds, trimToLastSeconds } from '../mpeg-ts/trim-transport-stream.ts';

export type SegmentCaptureDeps = {
  fetcher: SegmentFetcher & { resources: ResourceCache };
  ffmpeg: FfmpegRunner;
  decodeTimeoutMs: number;
  now: () => Date;
};

/** Capture, the position of its newest segment, and the key frames of its segments if the request looks back. */
export type SegmentsCapture = { capture: Capture; newest: StreamPosition; read: ReadSegment[] };

/** Time for which segments are searched for a key frame, in seconds: some seconds more than most GOPs. */
export const searchedSeconds = 12;

/** Error for segments of which nothing could be decoded, and in which no key frame is marked. */
export class NoKeyFrameError extends NoFrameDecodedError {
  override name = 'NoKeyFrameError';

  constructor({ mode }: Pick<CaptureRequest, 'mode'>, cause?: Error) {
    const remediation = `The newest segments have no key frame, also within ${searchedSeconds} s. Set the key frame interval of the encoder to 2 s, then try again.`;
    super(remediation, failureMessage(mode), { cause });
  }
}

/**
 * Fetches and decodes contiguous segments of a playlist; `parts` are those that are fetched already. Throws
 * `StreamFetchError` and the errors of ffmpeg.
 */
export async function captureSegments(
  deps: SegmentCaptureDeps,
  playlist: MediaPlaylist,
  segments: Segment[],
  request: CaptureRequest,
  signal: AbortSignal,
  parts?: Uint8Array[],
): Promise<SegmentsCapture> {
  const newest = segments.at(-1);
  if (newest === undefined) {
    throw new StreamFetchError('The playlist has no segments yet. Try again in a few seconds.');
  }
  const read: ReadSegment[] = [];
  const contents = new Map<Segment, Uint8Array>();
  const tracker = createKeyFrameTracker(segments, (...part) => {
    const [segment, bytes] = part;
    const hash = createHash('sha256').update(bytes).digest();
    contents.set(segment, hash);
    const content = hash.toString('hex', 0, 4);
    if (request.lookBack) read.push({ ...keepBytes(readSegment(...part), request), content });
  });
  const { output, isNewest } = await decode(deps, segments, tracker, request, signal, parts);
  const keyFrameSeconds = tracker.secondsWithoutKeyFrame();
  const keyFrameIn = tracker.lastKeyFrameIn();
  const toPosition = (segment: Segment) => {
    const contentOf = [...new Set([keyFrameIn ?? segment, segment])];
    return withContent(
      streamPosition(segment, playlist),
      contentOf.flatMap((each) => contents.get(each) ?? []),
    );
  };
  const position = toPosition(newest);
  // Segments without a key frame bring no other frame, but for a scan.
  const showsKeyFrame = keyFrameIn && request.mode === 'frames' && !isNewest && !request.lookBack;
  const capture = {
    ...output,
    ...(keyFrameSeconds !== undefined && { keyFrameSeconds }),
    capturedAt: captureTime(newest, isNewest ? 'clip' : request.mode, deps.now(), tracker.lastKeyFrameAt()),
    position: showsKeyFrame ? withKeyFrames(toPosition(keyFrameIn), keyFrameSeconds) : position,
  };
  return { capture, newest: position, read };
}

/** Returns the position of a stream of which only key frames are seen. */
export function withKeyFrames(position: StreamPosition, keyFrameSeconds = 0): StreamPosition {
  return { ...position, segment_seconds: Math.max(position.segment_seconds, keyFrameSeconds) };
}

/** The trimming of a clip uses the memory of its input. */
function keepBytes(read: ReadSegment, { mode }: CaptureRequest): ReadSegment {
  if (mode === 'frames' || read.kind !== 'extracts') return read;
  return { ...read, bytes: new Uint8Array(read.bytes) };
}

/** Decodes the segments. Aborts pending downloads when ffmpeg has enough input. */
async function decode(
  { fetcher, ffmpeg, decodeTimeoutMs }: SegmentCaptureDeps,
  segments: Segment[],
  tracker: KeyFrameTracker,
  request: CaptureRequest,
  signal: AbortSignal,
  parts?: Uint8Array[],
): Promise<{ output: FfmpegOutput; isNewest: boolean }> {
  const enough = new AbortController();
  let isDamaged = false;
  const fetched = parts
    ? each(parts)
    : fetchSegments(fetcher, segments, AbortSignal.any([signal, enough.signal]), () => (isDamaged = true));
  const chunks = tracker.watch(fetched);
  let isNewest = false;
  try {
    const { input: piped, ...cut } = await toFfmpegInput(chunks, segments, request);
    isNewest = cut.isNewest;
    // Playlists whose segments hold whatever was sent since the last request have wrong durations.
    const input = parts && piped.kind === 'pipe' ? { ...piped, seconds: 0 } : piped;
    const limits = { timeoutMs: decodeTimeoutMs };
    const output = isNewest
      ? await decodeNewest(ffmpeg, input, limits, signal)
      : await ffmpeg.run(input, request, limits, signal);
    return { output, isNewest };
  } catch (error) {
    for (const segment of segments) evictResources(fetcher.resources, segment);
    const isWithoutKeyFrame =
      isNewest || (tracker.hasFrames() && tracker.secondsWithoutKeyFrame() === undefined);
    if (error instanceof NoFrameDecodedError && isDamaged) throw damagedStream(error.message, error);
    if (error instanceof NoFrameDecodedError && isWithoutKeyFrame) throw new NoKeyFrameError(request, error);
    throw error;
  } finally {
    enough.abort();
  }
}

async function* each(parts: Uint8Array[]): AsyncGenerator<Uint8Array> {
  yield* parts;
}

function evictResources(resources: ResourceCache, { key, initialization }: Segment): void {
  if (key?.method === 'AES-128') resources.delete({ url: key.url, byteRange: null });
  if (initialization !== null) resources.delete(initialization);
}

/**
 * Input of ffmpeg. `isNewest`: the frame is the last one of a short clip, because no key frame has the whole picture.
 */
type SegmentsInput = { input: FfmpegInput; isNewest: boolean };

/** Reduces segments to the bytes that ffmpeg needs, if they can be located. Throws `AudioOnlyError`. */
export async function toFfmpegInput(
  chunks: AsyncIterable<Uint8Array>,
  segments: Segment[],
  request: CaptureRequest,
): Promise<SegmentsInput> {
  const seconds = segments.reduce((sum, { durationSeconds }) => sum + durationSeconds, 0);
  const parts: Uint8Array[] = [];
  for await (const part of chunks) parts.push(part);
  const format = segmentFormat(segments[0]);
  const isFrame = request.mode === 'frames';
  if (parts[0] && isAudioOnly(parts[0], format)) throw new AudioOnlyError(request);
  const index = format === 'mpegts' ? indexAccessUnits(parts) : null;
  const isRefreshed =
    format === 'mpegts'
      ? beginsRefresh(parts, index)
      : beginsRefreshMp4(parts, segments[0]?.initialization ? parts[0] : undefined);
  const input = { kind: 'pipe', format, chunks: parts, seconds, isRefreshed } as const;
  const isNewest = isFrame && isRefreshed;
  if (format !== 'mpegts') return { input, isNewest };
  if (isFrame && !isNewest) {
    // With several segments, the last one may hold no complete key frame.
    if (segments.length !== 1) return { input, isNewest };
    const keyFrame = parts.length === 1 ? index : undefined;
    return {
      input: { ...input, chunks: parts.map((part) => extractLastKeyFrame(part, keyFrame) ?? part) },
      isNewest,
    };
  }
  // Later captures use the same bytes of the initialization section, and trimming uses the memory of its input.
  if (segments[0]?.initialization && parts[0]) parts[0] = new Uint8Array(parts[0]);
  const clipSeconds = isNewest ? newestFrame.clipSeconds : request.clipSeconds;
  // Some servers cut segments within a packet, which only joined segments hold whole.
  const clip =
    trimToLastSeconds(parts, clipSeconds) ?? trimToLastSeconds([Buffer.concat(parts)], clipSeconds);
  if (clip === null) return { input, isNewest };
  return { input: { ...input, chunks: clip, endsAtSeconds: clipEndPtsSeconds }, isNewest };
}

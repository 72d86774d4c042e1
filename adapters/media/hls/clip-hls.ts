import { StreamEndedError, StreamError } from '../../../core/errors.ts';
import type { ClipRequest, ClipResult } from '../../../core/records/clip.ts';
import { maxClipBytes } from '../../../core/records/clip.ts';
import { computeKeepSeconds, type KeptPart } from '../clips/kept-stream.ts';
import { readClip, type ClipDeps } from '../clips/read-clip.ts';
import type { MediaPlaylist, Segment } from './playlist/playlist.ts';
import { keyFrameOffsetsTs } from '../mpeg-ts/key-frame-offsets.ts';
import { segmentStarts } from './scan/scan-timeline.ts';
import { captureTime } from './segments/capture-time.ts';
import { fetchSegments, type SegmentFetcher } from './segments/fetch-segments.ts';
import { keyFrameOffsetsMp4 } from './segments/mp4-key-frames.ts';
import { segmentFormat } from './segments/segment-format.ts';
import { streamPosition } from './segments/stream-position.ts';

/** Reading of one stream: its name, and its playlist in the rendition that is judged. */
export type ClipStream = {
  key: string;
  fetchPlaylist: (signal: AbortSignal) => Promise<MediaPlaylist>;
  fetcher: SegmentFetcher;
};

type GatherDeps = Omit<ClipStream, 'key'> & Omit<ClipDeps, 'join'>;

/**
 * Creates the reading of clips. Those of one stream are read one after the other, so that each segment is fetched once.
 */
export function createClipReader(
  clips: Omit<ClipDeps, 'now'>,
  now: () => Date,
  find: (request: ClipRequest) => ClipStream,
) {
  const last = new Map<string, Promise<unknown>>();
  return async (request: ClipRequest, signal: AbortSignal): Promise<ClipResult> => {
    const { key, ...stream } = find(request);
    const turn = JSON.stringify([request.caller, key]);
    const gathering = (last.get(turn) ?? Promise.resolve()).then(async () =>
      gather({ ...stream, ...clips, now }, key, request, signal),
    );
    const ended = gathering.catch(() => undefined);
    last.set(turn, ended);
    const playlist = await gathering.finally(() => {
      if (last.get(turn) === ended) last.delete(turn);
    });
    const waitSeconds = playlist && computeWait(playlist);
    const source = { stream: key, waitSeconds, toChunks, trim: withoutBlindBegin };
    const wanted = playlist ? withMargins(request, playlist) : request;
    const result = await readClip({ ...clips, now }, source, wanted, signal);
    return playlist && result.kind === 'pending' ? withListing(result, playlist, wanted, now()) : result;
  };
}

/**
 * Without times of a playlist, each capture dates its newest segment by its own time, up to a segment too late: what is
 * wanted may lie that much beside.
 */
function withMargins(request: ClipRequest, { segments }: MediaPlaylist): ClipRequest {
  const marginMs = segments.at(-1)?.startsAt ? 0 : maxSegmentSeconds(segments) * 1000;
  const [from, to] = [request.from.getTime() - marginMs, request.to.getTime() + marginMs];
  return { ...request, from: new Date(from), to: new Date(to) };
}

function maxSegmentSeconds(segments: readonly Segment[]): number {
  return segments.reduce((longest, { durationSeconds }) => Math.max(longest, durationSeconds), 0);
}

/** Time for reading a clip, in seconds: its first segment is listed as long. */
const readingSeconds = 8;

/** Says when a playlist will list a whole clip, so that it can be read then. */
function withListing(
  pending: ClipResult & { kind: 'pending' },
  playlist: MediaPlaylist,
  { from, to }: ClipRequest,
  now: Date,
): ClipResult {
  const segmentSeconds = maxSegmentSeconds(playlist.segments);
  const neededSeconds = (to.getTime() - from.getTime()) / 1000 + 2 * segmentSeconds + readingSeconds;
  if (windowSeconds(playlist) < neededSeconds) return pending;
  return { ...pending, listedAfterSeconds: (to.getTime() - now.getTime()) / 1000 + segmentSeconds };
}

const maxWaitSeconds = 8;

/** Returns the longest wait in which none of what a playlist lists is gone, in seconds. */
function computeWait(playlist: MediaPlaylist): number {
  return Math.min(windowSeconds(playlist) / 3, maxWaitSeconds);
}

function windowSeconds({ segments }: MediaPlaylist): number {
  return segments.reduce((sum, { durationSeconds }) => sum + durationSeconds, 0);
}

function toChunks(parts: readonly KeptPart[]): Uint8Array[] {
  const [first] = parts;
  return [...(first?.initialization ? [first.initialization] : []), ...parts.map(({ bytes }) => bytes)];
}

/** Keeps the segments of the span that the playlist lists. Returns null for a stream that has ended. */
async function gather(
  { fetchPlaylist, fetcher, kept, now }: GatherDeps,
  stream: string,
  request: ClipRequest,
  signal: AbortSignal,
): Promise<MediaPlaylist | null> {
  const { caller } = request;
  const playlist = await fetchPlaylist(signal).catch((error: unknown) => {
    if (error instanceof StreamEndedError) return null;
    throw error;
  });
  if (!playlist) return null;
  const { from, to } = withMargins(request, playlist);
  const keepSeconds = computeKeepSeconds((to.getTime() - from.getTime()) / 1000);
  const known = kept.list(caller, stream);
  const startsMs = dateSegments(playlist, known, now());
  for (const [index, segment] of playlist.segments.entries()) {
    const startMs = startsMs[index] ?? 0;
    const endMs = startMs + segment.durationSeconds * 1000;
    const isOutside = endMs <= from.getTime() || startMs >= to.getTime();
    const id = toId(segment, playlist);
    if (isOutside || segment.gap || known.some((part) => part.id === id)) continue;
    const read = await tryFetch(fetcher, segment, signal);
    if (read) kept.add(caller, stream, toPart(playlist, segment, startMs, { ...read, keepSeconds }));
  }
  return playlist;
}

/**
 * Returns the starts of segments as captures date them: by one that a scan has kept, else the newest ends now or at its
 * own time.
 */
function dateSegments(playlist: MediaPlaylist, known: readonly KeptPart[], now: Date): number[] {
  const { segments } = playlist;
  for (const [index, segment] of segments.entries()) {
    const part = known.find(({ id }) => id === toId(segment, playlist));
    if (part) return segmentStarts(playlist, { index, startMs: part.startMs });
  }
  const newest = segments.at(-1);
  if (!newest) return [];
  const endMs = captureTime(newest, 'clip', now).getTime();
  return segmentStarts(playlist, {
    index: segments.length - 1,
    startMs: endMs - newest.durationSeconds * 1000,
  });
}

function toId(segment: Segment, playlist: MediaPlaylist): string {
  return streamPosition(segment, playlist).segment ?? '';
}

/** Returns a segment as part of a clip. */
export function toPart(
  playlist: MediaPlaylist,
  segment: Segment,
  startMs: number,
  { bytes, initialization, keepSeconds }: Pick<KeptPart, 'bytes' | 'initialization' | 'keepSeconds'>,
): KeptPart {
  return {
    id: toId(segment, playlist),
    place: segment.sequence,
    startMs,
    endMs: startMs + segment.durationSeconds * 1000,
    isBreak: segment.discontinuity,
    format: segmentFormat(segment),
    initialization,
    bytes,
    keepSeconds,
  };
}

/** Returns null for a segment that is gone, too large, or cannot be decrypted: the clip ends there. */
async function tryFetch(
  fetcher: SegmentFetcher,
  segment: Segment,
  signal: AbortSignal,
): Promise<Pick<KeptPart, 'bytes' | 'initialization'> | null> {
  const read: Uint8Array[] = [];
  try {
    // A request may take its part of the bytes (`fetchSegments`).
    const limited = { ...fetcher, captureBytes: maxClipBytes * 2 };
    for await (const part of fetchSegments(limited, [segment], signal)) read.push(part);
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof StreamError) return null;
    throw error;
  }
  const bytes = read.at(-1);
  return bytes ? { bytes, initialization: segment.initialization ? (read[0] ?? null) : null } : null;
}

/** Leaves out segments before the first key frame, and dates the first part by it. */
function withoutBlindBegin(parts: KeptPart[]): KeptPart[] {
  for (const [index, part] of parts.entries()) {
    const { initialization, bytes, startMs, endMs, format } = part;
    const found = format === 'mov' ? keyFrameOffsetsMp4(bytes, initialization) : keyFrameOffsetsTs(bytes);
    const beginMs = startMs + (found?.[0] ?? Infinity) * 1000;
    // A time beyond the segment is damage.
    if (beginMs < endMs) return [{ ...part, startMs: beginMs }, ...parts.slice(index + 1)];
  }
  // Formats whose key frames are not found by their marks: ffmpeg may.
  return parts;
}

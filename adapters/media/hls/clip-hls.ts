import { StreamEndedError, StreamError, StreamFetchError } from '../../../core/errors.ts';
import { maxClipBytes, type ClipRequest, type ClipResult } from '../../../core/records/clip.ts';
import { computeKeepSeconds, type KeptPart } from '../clips/kept-stream.ts';
import { EgressNetworkError, EgressTimeoutError } from '../../egress/errors.ts';
import { StatusError } from '../web/fetch-failure.ts';
import { readClip, type ClipDeps } from '../clips/read-clip.ts';
import type { MediaPlaylist, Segment } from './playlist/playlist.ts';
import { keyFrameOffsetsTs } from '../mpeg-ts/extract-key-frames.ts';
import { segmentStarts } from './scan/scan-timeline.ts';
import { captureTime, streamPosition } from './segments/stream-position.ts';
import { fetchSegments, type SegmentFetcher } from './segments/fetch-segments.ts';
import { keyFrameOffsetsMp4 } from './segments/mp4-key-frames.ts';
import { segmentFormat } from './segments/segment-format.ts';

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
    const { playlist, fault } = await gathering.finally(() => {
      if (last.get(turn) === ended) last.delete(turn);
    });
    const waitSeconds = playlist ? computeWait(playlist) : mayReturn(fault) ? faultWaitSeconds : null;
    const { behindSeconds } = request;
    const source = { stream: key, waitSeconds, fault, behindSeconds, toChunks, trim: withoutBlindBegin };
    const wanted = playlist ? withMargins(request, playlist, now()) : request;
    const result = await readClip({ ...clips, now }, source, wanted, signal);
    return playlist && result.kind === 'pending' ? withListing(result, playlist, wanted, now()) : result;
  };
}

/**
 * Without plausible times of a playlist, each capture dates its newest segment by its own time, up to a segment too
 * late: what is wanted may lie that much beside.
 */
function withMargins(request: ClipRequest, { segments }: MediaPlaylist, now: Date): ClipRequest {
  const newest = segments.at(-1);
  const isDated = newest && captureTime(newest, 'frames', now) < now;
  const marginMs = isDated ? 0 : maxSegmentSeconds(segments) * 1000;
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
const faultWaitSeconds = 4;

/** Returns true for a fault that may pass. Refused passwords are not tried again: that can lock the account. */
function mayReturn(fault: StreamError | undefined): boolean {
  return fault instanceof StreamFetchError && !fault.accessRefused;
}

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

/** Playlist of a clip, `null` for a stream that has ended or cannot be read. */
type Gathered = { playlist: MediaPlaylist | null; fault?: StreamError };

/** Keeps the segments of the span that the playlist lists. */
async function gather(
  { fetchPlaylist, fetcher, kept, now }: GatherDeps,
  stream: string,
  request: ClipRequest,
  signal: AbortSignal,
): Promise<Gathered> {
  const { caller } = request;
  const playlist = await fetchPlaylist(signal).catch((error: unknown) => {
    signal.throwIfAborted();
    if (error instanceof StreamError) return error;
    throw error;
  });
  if (playlist instanceof StreamError)
    return { playlist: null, ...(!(playlist instanceof StreamEndedError) && { fault: playlist }) };
  const { from, to, behindSeconds = 0 } = withMargins(request, playlist, now());
  // From now on, however old a segment is: the service may have been down.
  const keepSeconds = computeKeepSeconds((to.getTime() - from.getTime()) / 1000);
  const hold = (part: KeptPart) => kept.hold(caller, stream, [part], keepSeconds);
  const parts = kept.list(caller, stream);
  const startsMs = dateSegments(playlist, parts, now());
  let fault: StreamError | undefined;
  for (const [index, segment] of playlist.segments.entries()) {
    const startMs = startsMs[index] ?? 0;
    const shownMs = startMs + behindSeconds * 1000;
    const isOutside = shownMs + segment.durationSeconds * 1000 <= from.getTime() || shownMs >= to.getTime();
    if (isOutside || segment.gap) continue;
    const id = toId(segment, playlist);
    const part = parts.find((other) => other.id === id);
    const read = part ?? (await tryFetch(fetcher, segment, signal));
    if (read instanceof StreamError) fault = isPassing(read) ? read : fault;
    else if (read) hold(part ?? toPart(playlist, segment, startMs, { ...read, keepSeconds }));
  }
  return { playlist, ...(fault && { fault }) };
}

/** Returns true if a segment may be read later: the server did not answer, or failed. */
function isPassing({ cause }: StreamError): boolean {
  return cause instanceof StatusError
    ? cause.status >= 500
    : cause instanceof EgressTimeoutError || cause instanceof EgressNetworkError;
}

/**
 * Returns the starts of segments as captures date them: by one that a scan has kept, else the newest ends now or at its
 * own time.
 */
function dateSegments(playlist: MediaPlaylist, parts: readonly KeptPart[], now: Date): number[] {
  const { segments } = playlist;
  for (const [index, segment] of segments.entries()) {
    const part = parts.find(({ id }) => id === toId(segment, playlist));
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

/** Returns the error of a segment that is gone, too large, or cannot be decrypted: the clip ends there. */
async function tryFetch(
  fetcher: SegmentFetcher,
  segment: Segment,
  signal: AbortSignal,
): Promise<Pick<KeptPart, 'bytes' | 'initialization'> | StreamError | null> {
  const read: Uint8Array[] = [];
  try {
    // A request may take its part of the bytes (`fetchSegments`).
    const limited = { ...fetcher, captureBytes: maxClipBytes * 2 };
    for await (const part of fetchSegments(limited, [segment], signal)) read.push(part);
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof StreamError) return error;
    throw error;
  }
  const bytes = read.at(-1);
  return bytes ? { bytes, initialization: segment.initialization ? (read[0] ?? null) : null } : null;
}

/** Leaves out segments before the first key frame, and dates the first part by it. */
function withoutBlindBegin(parts: KeptPart[]): KeptPart[] {
  for (const [index, part] of parts.entries()) {
    const { initialization, bytes, startMs, endMs, format } = part;
    const offsets = format === 'mov' ? keyFrameOffsetsMp4(bytes, initialization) : keyFrameOffsetsTs(bytes);
    const beginMs = startMs + (offsets?.[0] ?? Infinity) * 1000;
    // A time beyond the segment is damage.
    if (beginMs < endMs) return [{ ...part, startMs: beginMs }, ...parts.slice(index + 1)];
  }
  // Formats whose key frames are not found by their marks: ffmpeg may.
  return parts;
}

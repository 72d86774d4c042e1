import type { CaptureRequest, InputMode } from '../../../core/records/capture.ts';
import { NoFrameDecodedError } from '../ffmpeg/errors.ts';
import {
  captureSegments,
  type SegmentsCapture,
  NoKeyFrameError,
  type SegmentCaptureDeps,
  searchedSeconds,
} from './capture-segments.ts';
import { SegmentMissingError, fetchSegments } from './segments/fetch-segments.ts';
import { type MediaPlaylist, type Segment, classifyLiveness } from './playlist/playlist.ts';
import { fetchMediaPlaylist, type PlaylistFetcher } from './playlist/fetch-playlist.ts';

/**
 * Maximum segments added to reach a key frame. A GOP is rarely longer than 10 s, and a segment rarely shorter than
 * 2 s.
 */
const maxOlderSegments = 5;

/** Maximum listed but missing segments per capture; one more is a failure. */
const maxMissingSegments = 2;

/** Capture, and the number of older segments that it needed to reach a key frame. */
export type LiveEdgeCapture = SegmentsCapture & { olderSegments: number };

/**
 * Captures the newest segments of a playlist, with `olderSegments` before them. Falls back to the previous segment
 * if the newest one is missing. Throws `StreamFetchError` and the errors of ffmpeg.
 */
export async function captureLiveEdge(
  deps: KeyFrameWaitDeps,
  playlist: MediaPlaylist,
  olderSegments: number,
  request: CaptureRequest,
  signal: AbortSignal,
): Promise<LiveEdgeCapture> {
  let left = playlist;
  for (let missing = 0; ; missing += 1) {
    try {
      return await captureKeyFrame(deps, left, olderSegments, request, signal);
    } catch (error) {
      if (!(error instanceof SegmentMissingError) || missing === maxMissingSegments) throw error;
      left = markGap(left, error.sequence);
      if (left.segments.every(({ gap }) => gap)) throw error;
    }
  }
}

/** Retries once with older segments if the newest ones have no key frame, then with those that appear. */
async function captureKeyFrame(
  deps: KeyFrameWaitDeps,
  playlist: MediaPlaylist,
  olderSegments: number,
  request: CaptureRequest,
  signal: AbortSignal,
): Promise<LiveEdgeCapture> {
  const segments = chooseSegments(playlist, { ...request, olderSegments });
  if (segments.length > 0 && isTooShort(playlist, request))
    return { ...(await awaitKeyFrame(deps, playlist, request, undefined, signal)), olderSegments };
  try {
    return { ...(await captureSegments(deps, playlist, segments, request, signal)), olderSegments };
  } catch (error) {
    const more = chooseSegments(playlist, { ...request, olderSegments: maxOlderSegments });
    if (!(error instanceof NoFrameDecodedError)) throw error;
    if (more.length <= segments.length) return { ...(await later(error)), olderSegments };
    const captured = await captureSegments(deps, playlist, more, request, signal).catch(later);
    return { ...captured, olderSegments: maxOlderSegments };
  }

  async function later(error: unknown): Promise<SegmentsCapture> {
    const isDamaged = error instanceof NoFrameDecodedError && error.isDamaged;
    if (!isDamaged && !(error instanceof NoKeyFrameError)) throw error;
    const awaited = awaitKeyFrame(deps, playlist, request, segments.at(-1)?.sequence, signal);
    return awaited.catch((lateError: unknown) => {
      throw isDamaged && lateError instanceof NoKeyFrameError ? error : lateError;
    });
  }
}

export type SegmentSelection = {
  mode: InputMode;
  clipSeconds: number;
  /** Number of additional older segments, for streams whose segments do not all begin with a key frame. */
  olderSegments: number;
};

/**
 * Selects the newest segments for a capture, oldest first: one for a frame, `clipSeconds` for a clip. Stops at a
 * discontinuity, a gap or another media initialization section. Returns an empty list if no segment is usable.
 */
export function chooseSegments(playlist: MediaPlaylist, wanted: SegmentSelection): Segment[] {
  const neededSeconds = wanted.mode === 'frames' ? 0 : wanted.clipSeconds;
  const chosen: Segment[] = [];
  let coveredSeconds = 0;
  let olderSegments = 0;
  for (const segment of newestContiguous(playlist.segments)) {
    const covered = chosen.length > 0 && coveredSeconds >= neededSeconds;
    if (covered && olderSegments >= wanted.olderSegments) break;
    if (covered) olderSegments += 1;
    chosen.unshift(segment);
    coveredSeconds += segment.durationSeconds;
  }
  return chosen;
}

/** Returns the playlist with the segment marked as a gap: it is listed, but its server does not have it. */
function markGap(playlist: MediaPlaylist, sequence: bigint): MediaPlaylist {
  const segments = playlist.segments.map((segment) =>
    segment.sequence === sequence ? { ...segment, gap: true } : segment,
  );
  return { ...playlist, segments };
}

function newestContiguous(segments: Segment[]): Segment[] {
  const newest = segments.findLastIndex(({ gap }) => !gap);
  const contiguous: Segment[] = [];
  for (let index = newest; index >= 0; index -= 1) {
    const segment = segments[index];
    if (segment === undefined || segment.gap || !sameInitialization(segment, contiguous.at(-1))) break;
    contiguous.push(segment);
    if (segment.discontinuity) break;
  }
  return contiguous;
}

function sameInitialization(segment: Segment, next: Segment | undefined): boolean {
  if (next === undefined) return true;
  return (
    segment.initialization?.url === next.initialization?.url &&
    segment.initialization?.byteRange?.offset === next.initialization?.byteRange?.offset
  );
}

/** Dependencies for reading segments as they appear. */
type KeyFrameWaitDeps = Omit<SegmentCaptureDeps, 'fetcher'> & {
  fetcher: SegmentCaptureDeps['fetcher'] & PlaylistFetcher;
  /** Monotonic clock, in milliseconds. */
  elapsedMs: () => number;
  wait: (milliseconds: number, signal: AbortSignal) => Promise<void>;
};

/** A playlist that lists less holds no clip, and rarely a key frame. */
const shortPlaylistSeconds = 2;
const minPollMs = 500;
/** A playlist can state any target duration. */
const maxPollMs = 2_000;
const decodeEveryMs = 1_000;

/** Returns true if the playlist lists too little for a clip, however its segments begin. */
function isTooShort(playlist: MediaPlaylist, { mode, clipSeconds }: CaptureRequest): boolean {
  return mode !== 'frames' && listedSeconds(playlist) < Math.min(clipSeconds, shortPlaylistSeconds);
}

/**
 * Captures the segments after `newest`, the media sequence number of the last one that was read, as they appear: once
 * they have a key frame and, after it, enough for the clip. Throws `NoKeyFrameError` if none appears in time.
 */
async function awaitKeyFrame(
  deps: KeyFrameWaitDeps,
  playlist: MediaPlaylist,
  request: CaptureRequest,
  newest: bigint | undefined,
  signal: AbortSignal,
): Promise<SegmentsCapture> {
  const untilMs = deps.elapsedMs() + (searchedSeconds - listedSeconds(playlist)) * 1000;
  let held: Held = { segments: [], parts: [] };
  let last = newest;
  let left: MediaPlaylist = playlist;
  let decodedMs = -Infinity;
  if (last === undefined) await take(left);
  while (deps.elapsedMs() < untilMs && classifyLiveness(left) === 'live') {
    await poll();
    if (held.segments.length === 0 || deps.elapsedMs() - decodedMs < decodeEveryMs) continue;
    decodedMs = deps.elapsedMs();
    const capture = await findKeyFrame(deps, left, held, request, signal);
    if (capture) return request.mode === 'frames' ? capture : captureClip();
    held = { segments: [], parts: [] };
  }
  throw new NoKeyFrameError(request);

  async function poll(): Promise<void> {
    await deps.wait(Math.min(Math.max(minPollMs, left.targetSeconds * 500), maxPollMs), signal);
    left = await fetchMediaPlaylist(deps.fetcher, playlist.url, request.mode, signal);
    await take(left);
  }

  async function take({ segments }: MediaPlaylist): Promise<void> {
    held = await append(deps, held, segments, last, signal);
    last = segments.at(-1)?.sequence;
  }

  /** The clip begins at the latest with the segments that have a key frame. */
  async function captureClip(): Promise<SegmentsCapture> {
    const endMs = deps.elapsedMs() + request.clipSeconds * 1000;
    while (deps.elapsedMs() < endMs && classifyLiveness(left) === 'live') await poll();
    return captureSegments(deps, left, held.segments, request, signal, held.parts);
  }
}

/** Fetched segments without a gap, after their media initialization section. */
type Held = { segments: Segment[]; parts: Uint8Array[] };

function listedSeconds({ segments }: MediaPlaylist): number {
  return segments.reduce((sum, { durationSeconds }) => sum + durationSeconds, 0);
}

async function findKeyFrame(
  deps: KeyFrameWaitDeps,
  playlist: MediaPlaylist,
  { segments, parts }: Held,
  request: CaptureRequest,
  signal: AbortSignal,
): Promise<SegmentsCapture | undefined> {
  try {
    return await captureSegments(deps, playlist, segments, { ...request, mode: 'frames' }, signal, parts);
  } catch (error) {
    if (error instanceof NoFrameDecodedError) return undefined;
    throw error;
  }
}

/** Fetches the segments after a media sequence number. What does not follow what is held replaces it. */
async function append(
  { fetcher }: KeyFrameWaitDeps,
  held: Held,
  listed: readonly Segment[],
  newest: bigint | undefined,
  signal: AbortSignal,
): Promise<Held> {
  const isRestarted = newest !== undefined && (listed.at(-1)?.sequence ?? newest) < newest;
  const appeared = listed.filter(
    ({ sequence, gap }) => !gap && (isRestarted || newest === undefined || sequence > newest),
  );
  const begins = appeared.findLastIndex((segment, index) => {
    const before = appeared[index - 1] ?? held.segments.at(-1);
    return before === undefined || !follows(segment, before);
  });
  const added = begins < 0 ? appeared : appeared.slice(begins);
  if (added.length === 0) return held;
  const parts: Uint8Array[] = [];
  for await (const part of fetchSegments(fetcher, added, signal)) parts.push(part);
  if (begins >= 0) return { segments: added, parts };
  const media = added[0]?.initialization ? parts.slice(1) : parts;
  const all = { segments: [...held.segments, ...added], parts: [...held.parts, ...media] };
  const bytes = all.parts.reduce((sum, part) => sum + part.length, 0);
  return bytes <= fetcher.captureBytes ? all : { segments: [], parts: [] };
}

function follows(segment: Segment, before: Segment): boolean {
  return (
    segment.sequence === before.sequence + 1n &&
    !segment.discontinuity &&
    segment.initialization?.url === before.initialization?.url
  );
}

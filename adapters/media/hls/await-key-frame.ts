import type { CaptureRequest } from '../../../core/records/capture.ts';
import { NoFrameDecodedError } from '../ffmpeg/errors.ts';
import {
  captureSegments,
  type SegmentCaptureDeps,
  type SegmentsCapture,
  NoKeyFrameError,
  searchedSeconds,
} from './capture-segments.ts';
import { fetchMediaPlaylist, type PlaylistFetcher } from './playlist/fetch-playlist.ts';
import { fetchSegments } from './segments/fetch-segments.ts';
import { classifyLiveness, type MediaPlaylist, type Segment } from './playlist/playlist.ts';

/** Dependencies for reading segments as they appear. */
export type KeyFrameWaitDeps = Omit<SegmentCaptureDeps, 'fetcher'> & {
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
export function isTooShort(playlist: MediaPlaylist, { mode, clipSeconds }: CaptureRequest): boolean {
  return mode !== 'frames' && listedSeconds(playlist) < Math.min(clipSeconds, shortPlaylistSeconds);
}

/**
 * Captures the segments after `newest`, the media sequence number of the last one that was read, as they appear: once
 * they have a key frame and, after it, enough for the clip. Throws `NoKeyFrameError` if none appears in time.
 */
export async function awaitKeyFrame(
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
    const found = await findKeyFrame(deps, left, held, request, signal);
    if (found) return request.mode === 'frames' ? found : captureClip();
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

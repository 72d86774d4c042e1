import type { Capture, CaptureRequest, Scan } from '../../../../core/records/capture.ts';
import { rules } from '../../../../core/rules.ts';
import type { FfmpegRunner } from '../../ffmpeg/run-ffmpeg.ts';
import { createScannedFrame } from '../../scan/frame-pictures.ts';
import {
  leaveOut,
  longestDistance,
  maxPictureBytes,
  minDistanceSeconds,
  noScan,
  formatPosition,
  parsePosition,
  unknown,
  type ScanPosition,
} from '../../scan/measure-scan.ts';
import { captureTime, streamPosition } from '../segments/stream-position.ts';
import { fetchRendition, type PlaylistFetcher, type Rendition } from '../playlist/fetch-playlist.ts';
import type { SegmentFetcher } from '../segments/fetch-segments.ts';
import type { MediaPlaylist } from '../playlist/playlist.ts';
import { beginsWithKeyFrame, sparseGap, type ReadSegment } from './read-segment.ts';
import { createScanBudget, type ScanBudget } from './scan-budget.ts';
import { decodeSegments, readFrame, type DecodedFrame } from './scan-decode.ts';
import { readJudgedPicture, readSegments } from './scan-segments.ts';
import { findUnscanned, type Unscanned } from './find-unscanned.ts';
import { alignRendition, segmentStarts } from './scan-timeline.ts';

export type ScanHlsDeps = {
  fetcher: SegmentFetcher & PlaylistFetcher;
  ffmpeg: FfmpegRunner;
  now: () => Date;
  /** Monotonic clock, in milliseconds. */
  elapsedMs: () => number;
  /** Receives what a scan has read in the rendition that is judged, with the start on the clock of the captures. */
  keep?: ((playlist: MediaPlaylist, read: ReadSegment, startMs: number) => void) | undefined;
};

/** Capture whose stream is scanned, with the playlist and the key frames of the segments that it is from. */
export type CapturedEdge = { capture: Capture; playlist: MediaPlaylist; read: readonly ReadSegment[] };

/** Scan of a capture, and the position after it. `newest` is a frame after that of the capture, which it replaces. */
export type ScannedStream = {
  scan: Scan;
  position: string | undefined;
  newest?: Pick<Capture, 'frame' | 'thumbnail' | 'capturedAt'> | undefined;
};

const maxScanMs = rules.maxScanSeconds * 1000;
const budgetMs = 6_000;
const toleranceMs = 500;
/** Maximum time of a group before a scan, whose frames it needs. */
const maxGroupSeconds = 20;
/** Stands for the rendition that is judged. */
const judgedName = '-';

/**
 * Scans the stream before a capture since a position. Never fails: what cannot be scanned is left out. Throws the abort
 * reason.
 */
export async function scanHls(
  deps: ScanHlsDeps,
  edge: CapturedEdge,
  rendition: Rendition | null,
  request: CaptureRequest,
  signal: AbortSignal,
): Promise<ScannedStream> {
  const since = request.lookBack?.since ?? null;
  try {
    return await scanSince(deps, edge, rendition, { ...request, since }, signal);
  } catch {
    signal.throwIfAborted();
    return leaveOut(since, edge.capture.capturedAt);
  }
}

type ScanRequest = CaptureRequest & { since: string | null };

async function scanSince(
  { fetcher, ffmpeg, now, elapsedMs, keep }: ScanHlsDeps,
  edge: CapturedEdge,
  rendition: Rendition | null,
  { since, mode, caller }: ScanRequest,
  signal: AbortSignal,
): Promise<ScannedStream> {
  const budget = createScanBudget({ bytes: fetcher.captureBytes, milliseconds: budgetMs, elapsedMs });
  const judged = { ...edge, startsMs: startsOfJudged(edge, mode) };
  // Frames between key frames are decoded once, for scan and model.
  const gapSeconds = sparseGap(edge.read);
  const scanned = gapSeconds > 0 ? null : rendition;
  const window = await findWindow({ fetcher, budget }, judged, scanned, signal);
  const { playlist, startsMs, name, end } = window;
  const newest = playlist.segments[end];
  if (newest === undefined) return { scan: noScan, position: since ?? undefined };
  const edgeMs = edge.capture.capturedAt.getTime();
  const before = withoutOther(parsePosition(since), window.read);
  const content = window.read.find((each) => each.segment.sequence === newest.sequence)?.content;
  const segment = [streamPosition(newest, playlist).segment ?? unknown, ...(content ? [content] : [])].join(
    ':',
  );
  const positionAt = (atMs: number) => formatPosition({ rendition: name, segment, atMs });
  if (before === null) return { scan: noScan, position: positionAt(edgeMs) };
  const unscanned = findUnscanned(playlist, startsMs, name, before);
  const isSeen = isBefore(unscanned, window, edgeMs);
  const isSame = unscanned.from > end && unscanned.afterMs === -Infinity;
  if (isSame) return { scan: { ...noScan, isSeen }, position: since ?? positionAt(edgeMs) };
  const read = await readSegments(
    fetcher,
    listWanted(window, unscanned.from, edgeMs),
    window.read,
    budget,
    signal,
  );
  const ordered = read.toSorted((one, other) => (one.segment.sequence < other.segment.sequence ? -1 : 1));
  const decoding = { fetcher, ffmpeg, caller, budget };
  if (keep && name === judgedName)
    for (const each of ordered) {
      const index = playlist.segments.findIndex(({ sequence }) => sequence === each.segment.sequence);
      keep(playlist, each, startsMs[index] ?? edgeMs);
    }
  const isSparse = Math.max(gapSeconds, sparseGap(ordered)) > 0;
  const begin = isSparse ? await readBegin(decoding, window, ordered, signal) : [];
  const decoded = await decodeSegments(decoding, { begin, segments: ordered, gapSeconds }, signal);
  const seen = new Set(
    ordered.filter((each) => !decoded.failed.includes(each)).map((each) => each.segment.sequence),
  );
  const datedFrames = dateFrames(decoded.frames, window);
  const later = mode === 'frames' && name === judgedName ? findLater(datedFrames, edgeMs, now()) : undefined;
  if (later === undefined && isSeen) return { scan: { ...noScan, isSeen }, position: since ?? undefined };
  const captureMs = later?.atMs ?? edgeMs;
  const shiftMs = later?.shiftMs ?? 0;
  const dated = { ...window, startsMs: startsMs.map((startMs) => startMs + shiftMs) };
  const frames = datedFrames
    .map((frame) => ({ ...frame, atMs: frame.atMs + shiftMs }))
    .filter(({ atMs }) => atMs > unscanned.afterMs && atMs <= captureMs - minDistanceSeconds * 1000);
  const times = [...frames.map(({ atMs }) => atMs), captureMs];
  const readPicture = async (frame: DatedFrame, aborts: AbortSignal) => {
    const shown = name === judgedName ? null : await readJudgedPicture(decoding, judged, frame.atMs, aborts);
    return shown ?? readFrame(decoding, frame, aborts);
  };
  return {
    scan: {
      frames: frames.map((frame) =>
        createScannedFrame(frame.atMs, frame.thumbnail, (aborts) => readPicture(frame, aborts)),
      ),
      ...measure(dated, unscanned, seen, captureMs),
      distanceSeconds: Math.max(
        longestDistance(times),
        decoded.blindSeconds,
        later === undefined ? 0 : secondsUnseen(unscanned, before, times),
      ),
    },
    position: positionAt(captureMs),
    newest: later?.newest,
  };
}

/**
 * Some servers number the segments of each viewer from 0: then the position has a segment with other contents, and only
 * its time is known.
 */
function withoutOther(before: ScanPosition | null, read: readonly ReadSegment[]): ScanPosition | null {
  const [sequence, , content] = before?.segment.split(':') ?? [];
  const contentBefore = read.find(({ segment }) => `${segment.sequence}` === sequence)?.content;
  const isOther = content !== undefined && contentBefore !== undefined && content !== contentBefore;
  return before && isOther ? { ...before, segment: unknown } : before;
}

type DatedFrame = Omit<DecodedFrame, 'seconds'> & { seconds: number; atMs: number };

/**
 * Returns the newest frame if it was decoded after the one of the capture. It has the time of the stream, and without a
 * plausible one that of the service.
 */
function findLater(frames: readonly DatedFrame[], captureMs: number, now: Date) {
  const last = frames.at(-1);
  if (!last?.frame || last.atMs <= captureMs + minDistanceSeconds * 1000) return undefined;
  const { segment, seconds, thumbnail, frame, atMs } = last;
  const shownAt = segment.startsAt && new Date(segment.startsAt.getTime() + seconds * 1000);
  const capturedAt = captureTime(segment, 'frames', now, shownAt);
  return {
    newest: { frame, thumbnail, capturedAt },
    atMs: capturedAt.getTime(),
    shiftMs: capturedAt.getTime() - atMs,
  };
}

/**
 * Returns true if the frame of the capture is of a segment that was scanned before: its key frame is older than the
 * newest segments.
 */
function isBefore({ from, afterMs }: Unscanned, { name, startsMs }: Window, captureMs: number): boolean {
  const index = startsMs.findLastIndex((startMs) => startMs <= captureMs + toleranceMs);
  return name === judgedName && afterMs === -Infinity && index < from;
}

/** Returns the time from the capture before to the first frame, in seconds, if no segment is missing between them. */
function secondsUnseen(
  { afterMs, goneSeconds }: Unscanned,
  before: ScanPosition,
  [firstMs = 0]: number[],
): number {
  const seconds = (firstMs - before.atMs) / 1000;
  const isKnown = afterMs === -Infinity && goneSeconds === 0 && seconds <= maxScanMs / 1000;
  return isKnown ? Math.max(0, seconds) : 0;
}

/**
 * Playlist that is scanned, on the clock of the captures, up to the segment `end`. `read` are segments that need not be
 * fetched.
 */
type Window = {
  name: string;
  playlist: MediaPlaylist;
  startsMs: number[];
  end: number;
  read: readonly ReadSegment[];
};

type JudgedEdge = CapturedEdge & { startsMs: number[] };

/** Falls back to the rendition that is judged if the other one cannot be read. */
async function findWindow(
  { fetcher, budget }: { fetcher: PlaylistFetcher; budget: ScanBudget },
  { playlist: judged, startsMs, read }: JudgedEdge,
  rendition: Rendition | null,
  signal: AbortSignal,
): Promise<Window> {
  const newest = read.at(-1)?.segment.sequence;
  const end = judged.segments.findIndex(({ sequence }) => sequence === newest);
  const own = { name: judgedName, playlist: judged, startsMs, end, read };
  if (rendition === null) return own;
  const other = await budget
    .within((bounded) => fetchRendition(fetcher, rendition, bounded), signal)
    .catch(() => null);
  signal.throwIfAborted();
  if (other === null || other.paused || other.segments.length === 0) return own;
  const otherStartsMs = segmentStarts(other, alignRendition(judged, startsMs, other));
  const endMs = endsMs(judged, startsMs, end) + toleranceMs;
  return {
    name: rendition.name,
    playlist: other,
    startsMs: otherStartsMs,
    end: other.segments.findLastIndex((_, index) => endsMs(other, otherStartsMs, index) <= endMs),
    read: [],
  };
}

function endsMs({ segments }: MediaPlaylist, startsMs: readonly number[], index: number): number {
  return (startsMs[index] ?? 0) + (segments[index]?.durationSeconds ?? 0) * 1000;
}

/** The frame of a capture is the last key frame of its segments, that of a clip their end. */
function startsOfJudged({ capture, playlist, read }: CapturedEdge, mode: CaptureRequest['mode']): number[] {
  const atMs = capture.capturedAt.getTime();
  const shown = (mode === 'frames' && read.findLast(({ seconds }) => seconds.length > 0)) || read.at(-1);
  const seconds = mode === 'frames' ? (shown?.seconds.at(-1) ?? 0) : (shown?.segment.durationSeconds ?? 0);
  const index = playlist.segments.findIndex(({ sequence }) => sequence === shown?.segment.sequence);
  return segmentStarts(playlist, { index: Math.max(0, index), startMs: atMs - seconds * 1000 });
}

/** Lists the segments to fetch, newest first. */
function listWanted({ playlist, startsMs, end }: Window, from: number, captureMs: number) {
  return playlist.segments
    .slice(0, end + 1)
    .filter(({ gap }, index) => index >= from && !gap && (startsMs[index] ?? 0) >= captureMs - maxScanMs)
    .toReversed();
}

/**
 * Reads the segments before those of a scan back to the begin of their first group. Returns none if it is not there any
 * more.
 */
async function readBegin(
  { fetcher, budget }: { fetcher: SegmentFetcher; budget: ScanBudget },
  { playlist: { segments }, read: windowRead }: Window,
  read: readonly ReadSegment[],
  signal: AbortSignal,
): Promise<ReadSegment[]> {
  const [first] = read;
  if (first === undefined || beginsWithKeyFrame(first)) return [];
  const begin: ReadSegment[] = [];
  let leftSeconds = maxGroupSeconds;
  let next = first.segment;
  for (const segment of segments.filter(({ sequence }) => sequence < next.sequence).toReversed()) {
    leftSeconds -= segment.durationSeconds;
    if (next.discontinuity || segment.gap || leftSeconds < 0) return [];
    const [segmentRead] = await readSegments(fetcher, [segment], windowRead, budget, signal);
    if (segmentRead === undefined) return [];
    begin.unshift(segmentRead);
    if (segmentRead.seconds.length > 0) return begin;
    next = segment;
  }
  return [];
}

/** Returns frames with their times, oldest first. The oldest ones have no picture if all together are too large. */
function dateFrames(frames: readonly DecodedFrame[], { playlist, startsMs }: Window): DatedFrame[] {
  let leftBytes = maxPictureBytes;
  return frames
    .map((frame) => {
      const index = playlist.segments.findIndex(({ sequence }) => sequence === frame.segment.sequence);
      return { ...frame, atMs: (startsMs[index] ?? 0) + frame.seconds * 1000 };
    })
    .toSorted((one, other) => other.atMs - one.atMs)
    .map(({ frame, extract, ...dated }) => {
      leftBytes -= (frame ?? extract)?.length ?? 0;
      return leftBytes >= 0 ? { ...dated, frame, ...(extract && { extract }) } : { ...dated, frame: null };
    })
    .toReversed();
}

/** Measures the time before the capture that was seen without a hole, and the time that was not seen. */
function measure(
  { playlist, startsMs, end }: Window,
  { from, goneSeconds, afterMs }: Unscanned,
  seen: ReadonlySet<bigint>,
  captureMs: number,
): Pick<Scan, 'coveredSeconds' | 'leftOutSeconds'> {
  const isSeen = (index: number): boolean => seen.has(playlist.segments[index]?.sequence ?? -1n);
  const wanted = playlist.segments.slice(from, end + 1);
  const leftOutSeconds = wanted.reduce(
    (sum, { durationSeconds }, index) => sum + (isSeen(from + index) ? 0 : durationSeconds),
    goneSeconds,
  );
  let oldest = end + 1;
  while (oldest > from && isSeen(oldest - 1)) oldest -= 1;
  if (oldest > end) return { coveredSeconds: 0, leftOutSeconds };
  const untilMs = Math.min(captureMs, endsMs(playlist, startsMs, end));
  return {
    coveredSeconds: Math.max(0, untilMs - Math.max(afterMs, startsMs[oldest] ?? 0)) / 1000,
    leftOutSeconds,
  };
}

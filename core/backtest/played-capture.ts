import type { Span } from '../records/sight.ts';
import type { CaptureResult } from '../records/workflow.ts';
import { rules } from '../rules.ts';
import { addSeconds, ageSeconds, later } from '../time.ts';

/** Captures as a backtest makes them of moments, and of what was seen between them. */

/** Moment with the verdict on the condition of a play. */
export type JudgedMoment = {
  id: string;
  at: Date;
  still: readonly [number, number];
  /** True if it showed what the picture that was judged before it showed. */
  unmoved: boolean;
  /** Seconds before it since which frames showed what the picture that was judged before showed. */
  unchangedSeconds: number;
  triggered: boolean | null;
  explanation: string;
};

/** Tick before a capture, and the distance of the frames that a scan reads. */
export type Before = { at: Date; distanceSeconds: number };

/** Frames of a scan that a capture reports. */
const maxFrames = 30;

/** Returns the key of the picture of a moment, as a run sees it. */
export function toKey(id: string): string {
  return `captures/backtest/${id}.jpg`;
}

/** Capture of a stream that is lost. */
export const lost: CaptureResult = {
  kind: 'failed',
  code: 'STREAM_UNREACHABLE',
  message: 'Nothing was seen',
  remediation: '',
  access_refused: false,
};

/** Returns the capture of moments, with what the scan before it saw. */
export function toCaptured(moments: readonly JudgedMoment[], spans: readonly Span[], before: Before) {
  const [oldest, newest] = [moments[0], moments.at(-1)];
  if (!oldest || !newest) return undefined;
  const { at: newestAt, still } = newest;
  const earlier = moments.slice(0, -1);
  const seen = findSpan(spans, newestAt)?.class;
  const isStill = seen === 'quiet' && earlier.length === 0;
  const [stillSeconds] = still;
  // The first capture after a gap has scanned a part of it.
  const isScanned = seen === 'quiet' || seen === 'judged' || earlier.length > 0 || stillSeconds > 0;
  const since = isStill ? before.at : addSeconds(newestAt, -stillSeconds);
  const unchanged = {
    from: addSeconds(newestAt, -newest.unchangedSeconds),
    to: addSeconds(oldest.at, -oldest.still[0]),
  };
  return {
    ...toFrame(toKey(newest.id), newestAt, !isStill && !newest.unmoved),
    ...(earlier.length > 0 && { moments: earlier.slice(-rules.maxEarlierMoments).map(toEarlier) }),
    ...(isScanned && { scan: toScan(before, { since, at: newestAt, unchanged }) }),
  };
}

function toEarlier({ id, at, still: [past, next] }: JudgedMoment) {
  const span: [string, string] = [addSeconds(at, -past).toISOString(), addSeconds(at, next).toISOString()];
  return { frame_key: toKey(id), captured_at: at.toISOString(), changed_share: 1, still: span };
}

/** Returns the span of a time; undefined if it is in none. The spans are in the order of time. */
export function findSpan(spans: readonly Span[], time: Date): Span | undefined {
  const span = spans[indexFrom(spans, time)];
  return span && span.from < time ? span : undefined;
}

/** Returns the index of the first span that does not end before a time. */
export function indexFrom(spans: readonly Span[], time: Date): number {
  let [first, end] = [0, spans.length];
  while (first < end) {
    const middle = (first + end) >> 1;
    const span = spans[middle];
    if (span && span.to < time) first = middle + 1;
    else end = middle;
  }
  return first;
}

/** Returns a capture that shows what the one before it showed. */
export function toQuiet(capturedAt: Date, { class: seen }: Span, before: Before): CaptureResult {
  const scan = seen === 'quiet' && { scan: toScan(before, { since: before.at, at: capturedAt }) };
  return { ...toFrame(toKey(''), capturedAt, false), ...scan };
}

/**
 * Returns a scan in which nothing moved since a time. `unchanged`: span before that shows what the picture that was
 * judged before showed.
 */
function toScan(
  { at: tickAt, distanceSeconds }: Before,
  { since, at: capturedAt, unchanged }: { since: Date; at: Date; unchanged?: { from: Date; to: Date } },
) {
  const begin = later(tickAt, addSeconds(capturedAt, -rules.maxScanSeconds));
  const quiet = listFrames(later(since, begin), capturedAt, distanceSeconds);
  const before = unchanged ? listFrames(later(unchanged.from, tickAt), unchanged.to, distanceSeconds) : [];
  return {
    frames: quiet.length,
    covered_seconds: ageSeconds(begin, capturedAt),
    left_out_seconds: 0,
    distance_seconds: distanceSeconds,
    quiet,
    ...(before.length > 0 && { unchanged: before }),
  };
}

/** Returns the times of the frames of a scan, without the last one. */
function listFrames(from: Date, to: Date, distanceSeconds: number): string[] {
  const stepMs = Math.max(distanceSeconds * 1000, ageSeconds(from, to) * (1000 / maxFrames));
  const count = Math.min(maxFrames, Math.floor((ageSeconds(from, to) * 1000) / stepMs));
  return Array.from({ length: count }, (_, index) =>
    new Date(to.getTime() - (count - index) * stepMs).toISOString(),
  );
}

function toFrame(frameKey: string, date: Date, moved: boolean): Extract<CaptureResult, { kind: 'captured' }> {
  const time = date.toISOString();
  return {
    kind: 'captured',
    frame_key: frameKey,
    clip_key: null,
    captured_at: time,
    seen: {
      position: { segment: null, segment_seconds: 0 },
      since: time,
      identical_since: null,
      seen_at: time,
    },
    repeated: false,
    moved,
    changed_share: moved ? 1 : 0,
    black: false,
    motion_if_judged: '',
    motion_if_skipped: '',
  };
}

import { boundedSeconds, type ScanPosition } from '../../scan/measure-scan.ts';
import type { MediaPlaylist } from '../playlist/playlist.ts';
import { streamPosition, withoutContent } from '../segments/stream-position.ts';

/** Segments of a playlist that a scan has not seen yet. */
export type Unscanned = {
  /** Index of the first one. */
  from: number;
  /** Time of segments that the playlist lists no more. */
  goneSeconds: number;
  /** Time before which frames have been scanned, if only the time is known; else `-Infinity`. */
  afterMs: number;
};

/**
 * Maximum segments by which an outdated playlist is behind. With a larger difference, the encoder has started to count
 * again.
 */
const maxBehind = 10n;
/** Rounding of times. */
const toleranceMs = 100;

/** Finds the segments after a position. `startsMs` are the start times of the segments. */
export function findUnscanned(
  playlist: MediaPlaylist,
  startsMs: readonly number[],
  rendition: string,
  position: ScanPosition,
): Unscanned {
  const { segments } = playlist;
  const nothingGone = { goneSeconds: 0, afterMs: -Infinity };
  const [first, last] = [segments[0], segments.at(-1)];
  const sequence = readSequence(position.segment);
  if (first === undefined || last === undefined) return { ...nothingGone, from: 0 };
  if (rendition === position.rendition && sequence !== null) {
    const index = segments.findIndex((segment) => segment.sequence === sequence);
    const segment = segments[index];
    if (segment && streamPosition(segment, playlist).segment === withoutContent(position.segment))
      return { ...nothingGone, from: index + 1 };
    // An edge server may return an outdated playlist.
    if (sequence > last.sequence && sequence - last.sequence <= maxBehind)
      return { ...nothingGone, from: segments.length };
    if (sequence < first.sequence) {
      const gone = Number(first.sequence - sequence - 1n) * meanSeconds(playlist) * 1000;
      const elapsed = (startsMs[0] ?? 0) - position.atMs;
      return {
        ...nothingGone,
        from: 0,
        goneSeconds: boundedSeconds(0, elapsed > 0 ? Math.min(gone, elapsed) : gone),
      };
    }
  }
  const afterMs = position.atMs + toleranceMs;
  const from = segments.findIndex(
    (segment, index) => computeEnd(segment.durationSeconds, startsMs[index]) > afterMs,
  );
  const goneSeconds = from === 0 ? boundedSeconds(position.atMs, startsMs[0] ?? 0) : 0;
  return { from: from < 0 ? segments.length : from, goneSeconds, afterMs };
}

function readSequence(segment: string): bigint | null {
  const digits = /^(-?\d+):/.exec(segment)?.[1];
  return digits === undefined ? null : BigInt(digits);
}

function computeEnd(durationSeconds: number, startMs = 0): number {
  return startMs + durationSeconds * 1000;
}

function meanSeconds({ segments }: MediaPlaylist): number {
  return segments.reduce((sum, { durationSeconds }) => sum + durationSeconds, 0) / segments.length;
}

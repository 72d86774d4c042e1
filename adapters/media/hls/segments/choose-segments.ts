import type { InputMode } from '../../../../core/records/capture.ts';
import type { MediaPlaylist, Segment } from '../playlist/playlist.ts';

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
export function markGap(playlist: MediaPlaylist, sequence: bigint): MediaPlaylist {
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

import type { InputMode } from '../../../core/capture.ts';
import type { MediaPlaylist, Segment } from './playlist.ts';

export type SegmentsWanted = {
  mode: InputMode;
  clipSeconds: number;
  /** More to take in front, for streams whose segments do not all begin with a key frame. */
  olderSegments: number;
};

/**
 * The newest segments that cover what is wanted, oldest first: one for a frame, `clipSeconds` worth for a clip.
 * They are of one piece: a discontinuity, a gap or another init section ends it. Empty if there is none to use.
 */
export function chooseSegments(playlist: MediaPlaylist, wanted: SegmentsWanted): Segment[] {
  const neededSeconds = wanted.mode === 'frames' ? 0 : wanted.clipSeconds;
  const chosen: Segment[] = [];
  let coveredSeconds = 0;
  let olderSegments = 0;
  for (const segment of newestPiece(playlist.segments)) {
    const covered = chosen.length > 0 && coveredSeconds >= neededSeconds;
    if (covered && olderSegments >= wanted.olderSegments) break;
    if (covered) olderSegments += 1;
    chosen.unshift(segment);
    coveredSeconds += segment.durationSeconds;
  }
  return chosen;
}

/** The playlist without a segment that its server does not have, though it names it. */
export function withGapAt(playlist: MediaPlaylist, sequence: bigint): MediaPlaylist {
  const segments = playlist.segments.map((segment) =>
    segment.sequence === sequence ? { ...segment, gap: true } : segment,
  );
  return { ...playlist, segments };
}

/** From the newest segment backwards to where its piece begins. */
function newestPiece(segments: Segment[]): Segment[] {
  const newest = segments.findLastIndex(({ gap }) => !gap);
  const piece: Segment[] = [];
  for (let index = newest; index >= 0; index -= 1) {
    const segment = segments[index];
    if (segment === undefined || segment.gap || !sameInitialization(segment, piece.at(-1))) break;
    piece.push(segment);
    if (segment.discontinuity) break;
  }
  return piece;
}

function sameInitialization(segment: Segment, next: Segment | undefined): boolean {
  if (next === undefined) return true;
  return (
    segment.initialization?.url === next.initialization?.url &&
    segment.initialization?.byteRange?.offset === next.initialization?.byteRange?.offset
  );
}

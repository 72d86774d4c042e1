import { createHash } from 'node:crypto';
import type { StreamPosition } from '../../../core/capture.ts';
import type { MediaPlaylist, Segment } from './playlist.ts';

/**
 * Maximum segment duration, in seconds. Some playlists give milliseconds; with that value a stream would never
 * count as stale.
 */
const longestSegmentSeconds = 60;

/**
 * Returns a position that changes with each segment, also if an encoder restarts its numbering. It holds only a
 * hash of the file name, because positions are stored and a path may be signed.
 */
export function positionOf(newest: Segment, playlist: MediaPlaylist): StreamPosition {
  const fileName = new URL(newest.url).pathname.split('/').at(-1) ?? '';
  const name = createHash('sha256').update(fileName).digest('hex').slice(0, 12);
  return {
    segment: `${newest.sequence}:${name}`,
    segment_seconds: Math.min(playlist.targetSeconds, longestSegmentSeconds),
  };
}

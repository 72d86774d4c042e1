import { createHash } from 'node:crypto';
import type { StreamPosition } from '../../../core/capture.ts';
import type { MediaPlaylist, Segment } from './playlist.ts';

/** Longer ones are none of a live stream: a playlist that says so (some write milliseconds) would never count as one that stands still. */
const longestSegmentSeconds = 60;

/**
 * Tells a segment from the one before, also after an encoder has begun to count anew. Of its URL only a hash goes into it: positions are
 * stored, and the path may be a signed one.
 */
export function positionOf(newest: Segment, playlist: MediaPlaylist): StreamPosition {
  const fileName = new URL(newest.url).pathname.split('/').at(-1) ?? '';
  const name = createHash('sha256').update(fileName).digest('hex').slice(0, 12);
  return {
    segment: `${newest.sequence}:${name}`,
    segment_seconds: Math.min(playlist.targetSeconds, longestSegmentSeconds),
  };
}

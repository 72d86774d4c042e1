import type { Segment } from '../../../adapters/media/hls/playlist/playlist.ts';

/** Returns a segment of 2 s without anything special, which a test changes where it needs to. */
export function newSegment(more: Partial<Segment> = {}): Segment {
  return {
    url: 'https://cdn.example/1.ts',
    byteRange: null,
    sequence: 1n,
    durationSeconds: 2,
    initialization: null,
    key: null,
    startsAt: null,
    discontinuity: false,
    gap: false,
    ...more,
  };
}

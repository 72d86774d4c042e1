import type { Segment } from '../playlist/playlist.ts';

const transportStream = /\.(ts|m2ts|mts|tsv)$/i;
const isoMedia = /\.(mp4|m4s|m4v|m4f|m4i|cmfv|cmfa|mov)$/i;

/**
 * Returns the ffmpeg demuxer for a segment. A media initialization section alone does not decide: MPEG-TS may have
 * one (with its tables), and segments that are whole MP4 files have none.
 */
export function segmentFormat(segment: Segment | undefined): 'mov' | 'mpegts' {
  if (segment === undefined) return 'mpegts';
  const { pathname } = new URL(segment.url);
  if (transportStream.test(pathname)) return 'mpegts';
  return segment.initialization !== null || isoMedia.test(pathname) ? 'mov' : 'mpegts';
}

import type { Segment } from './playlist.ts';

const transportStream = /\.(ts|m2ts|mts|tsv)$/i;
const isoMedia = /\.(mp4|m4s|m4v|m4f|m4i|cmfv|cmfa|mov)$/i;

/**
 * What ffmpeg has to take the bytes for. An init section alone does not tell: MPEG-TS may have its tables in one, and segments that are
 * whole MP4 files have none.
 */
export function formatOf(segment: Segment | undefined): 'mov' | 'mpegts' {
  if (segment === undefined) return 'mpegts';
  const { pathname } = new URL(segment.url);
  if (transportStream.test(pathname)) return 'mpegts';
  return segment.initialization !== null || isoMedia.test(pathname) ? 'mov' : 'mpegts';
}

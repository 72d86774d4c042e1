import { packetsOf, picturesOf } from './transport-stream.ts';

/**
 * Returns PAT, PMT and the last key frame of an MPEG-TS segment. Returns null if no key frame is marked or the
 * segment is unusual. ffmpeg then reads a tenth of the bytes and decodes one frame instead of every key frame.
 */
export function lastKeyFrame(segment: Uint8Array): Uint8Array | null {
  const found = picturesOf(segment);
  if (found === null) return null;
  const last = found.pictures.findLastIndex(({ isKeyFrame }) => isKeyFrame);
  const from = found.pictures[last]?.at;
  if (from === undefined) return null;
  const to = found.pictures[last + 1]?.at ?? segment.length;
  return Buffer.concat([...found.tables, ...packetsOf(segment.subarray(from, to), found.videoPid)]);
}

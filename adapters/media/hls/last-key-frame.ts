import { packetsOf, picturesOf } from './transport-stream.ts';

/**
 * The last key frame of a segment of MPEG-TS with the tables that tell how to read it, else null: where it is not marked, or the segment
 * is of an uncommon kind. A frame needs no more of it, and ffmpeg then reads a tenth of the bytes and makes one picture instead of one of each key frame.
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

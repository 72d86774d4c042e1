import { indexAccessUnits } from '../mpeg-ts/access-units.ts';
import { copyPackets } from '../mpeg-ts/packet.ts';

/**
 * Returns PAT, PMT and the last key frame of an MPEG-TS segment. Returns null if no key frame is marked or the
 * segment is unusual. ffmpeg then reads a tenth of the bytes and decodes one frame instead of every key frame.
 */
export function extractLastKeyFrame(segment: Uint8Array): Uint8Array | null {
  const found = indexAccessUnits([segment]);
  if (found === null) return null;
  const last = found.accessUnits.findLastIndex(({ isKeyFrame }) => isKeyFrame);
  const from = found.accessUnits[last]?.at;
  if (from === undefined) return null;
  const to = found.accessUnits[last + 1]?.at ?? segment.length;
  return copyPackets(found.psi, segment.subarray(from, to), found.videoPid);
}

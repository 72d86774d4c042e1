import { maxAccessUnits } from './access-units.ts';
import { findPacket, isRandomAccess, packetBytes, packetPayload, startsPayloadUnit } from './packet.ts';
import { ptsDifference, ptsPerSecond, readPts } from './pes-packet.ts';
import { createTableReader } from './psi.ts';

/**
 * Returns the seconds from the first frame of an MPEG-TS segment to each key frame, in decoding order: those marked
 * with the random access indicator, as by all HLS encoders. Returns null if it has too many frames, or none and no
 * program table: some servers list segments of tables only. Skips garbage.
 */
export function keyFrameOffsetsTs(segment: Uint8Array): number[] | null {
  let base: number | null = null;
  let first = 0;
  const tables = createTableReader();
  const keyFrames: number[] = [];
  let units = 0;
  for (
    let at = findPacket(segment, 0);
    at + packetBytes <= segment.length;
    at = findPacket(segment, at + packetBytes)
  ) {
    // One packet in a hundred starts an access unit; all others are skipped early.
    if (!startsPayloadUnit(segment, at)) continue;
    const packet = segment.subarray(at, at + packetBytes);
    const pts = readPts(packetPayload(packet));
    if (pts === null) {
      tables.read(packet);
      continue;
    }
    if ((units += 1) > maxAccessUnits) return null;
    base ??= pts;
    const offset = ptsDifference(base, pts);
    first = Math.min(first, offset);
    if (isRandomAccess(packet)) keyFrames.push(offset);
  }
  if (base === null) return tables.hasProgram() ? [] : null;
  return keyFrames.map((offset) => (offset - first) / ptsPerSecond);
}

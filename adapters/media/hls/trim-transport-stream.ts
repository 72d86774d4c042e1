import { indexAccessUnits } from '../mpeg-ts/access-units.ts';
import { copyPackets, packetBytes, packetPayload, startsPayloadUnit } from '../mpeg-ts/packet.ts';
import { ptsDifference, ptsPerSecond, readPts, shiftTimestamps } from '../mpeg-ts/pes-packet.ts';

/** PTS, in seconds, at which the last frame of a trimmed clip ends. It exceeds the length of every clip and GOP. */
export const clipEndPtsSeconds = 3600;
/** PTS of the last frame of a trimmed clip. */
export const lastFramePts = clipEndPtsSeconds * ptsPerSecond - 90;

/**
 * Trims MPEG-TS to PAT, PMT and video from the key frame before the last `seconds`; rebases PTS/DTS. The fixed end
 * lets ffmpeg start before its input is known. Returns null if the timestamps or the PSI are unreadable.
 */
export function trimToLastSeconds(bytes: Uint8Array, seconds: number): Uint8Array | null {
  const found = indexAccessUnits(bytes);
  if (found === null) return null;
  const timestamps = readAllPts(bytes, found.accessUnits);
  if (timestamps === null) return null;
  const newest = timestamps.reduce((latest, pts) => (ptsDifference(latest, pts) > 0 ? pts : latest));
  const age = timestamps.map((pts) => ptsDifference(pts, newest));
  const start = found.accessUnits.findLastIndex(
    ({ isKeyFrame }, index) => isKeyFrame && (age[index] ?? 0) >= seconds * ptsPerSecond,
  );
  const from = found.accessUnits[Math.max(0, start)]?.at ?? 0;
  const trimmed = copyPackets(found.psi, bytes.subarray(from), found.videoPid);
  shiftAllTimestamps(trimmed.subarray(found.psi.length * packetBytes), lastFramePts - newest);
  return trimmed;
}

/** Returns null if a PTS is missing or the list is empty. */
function readAllPts(bytes: Uint8Array, accessUnits: { at: number }[]): number[] | null {
  const found = accessUnits.map(({ at }) => readPts(packetPayload(bytes.subarray(at, at + packetBytes))));
  const known = found.filter((pts) => pts !== null);
  return known.length === 0 || known.length < found.length ? null : known;
}

function shiftAllTimestamps(packets: Uint8Array, by: number): void {
  for (let at = 0; at < packets.length; at += packetBytes) {
    if (startsPayloadUnit(packets, at))
      shiftTimestamps(packetPayload(packets.subarray(at, at + packetBytes)), by);
  }
}

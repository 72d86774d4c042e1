import {
  afterChangeOfSize,
  findWholePictures,
  indexAccessUnits,
  isRefresh,
  type AccessUnitIndex,
} from './access-units.ts';
import { gatherPackets, packetBytes, packetPayload, startsPayloadUnit } from './packet.ts';
import { ptsDifference, ptsPerSecond, readPts, shiftTimestamps } from './pes-packet.ts';

/** PTS, in seconds, at which the last frame of a trimmed clip ends. It exceeds the length of every clip and GOP. */
export const clipEndPtsSeconds = 3600;
export const lastFramePts = clipEndPtsSeconds * ptsPerSecond - 90;

/**
 * Trims successive MPEG-TS segments to PAT, PMT and video from the key frame before the last `seconds`; rebases
 * PTS/DTS. The fixed end lets ffmpeg start before its input is known. The result lies in the memory of `segments`,
 * which must not be used afterwards: a copy of each capture costs more time in the garbage collector than the whole
 * trimming. Returns null, and changes nothing, if the timestamps or the PSI are unreadable, and nothing of an intra
 * refresh without a whole picture.
 */
export function trimToLastSeconds(segments: readonly Uint8Array[], seconds: number): Uint8Array[] | null {
  const indexed = indexAccessUnits(segments);
  if (indexed === null) return null;
  // A clip of several resolutions would have the size of the first one.
  const uniform = afterChangeOfSize(segments, indexed);
  const timestamps = readAllPts(segments, uniform.accessUnits);
  if (timestamps === null) return null;
  const newest = timestamps.reduce((latest, pts) => (ptsDifference(latest, pts) > 0 ? pts : latest));
  const age = timestamps.map((pts) => ptsDifference(pts, newest));
  const wholeAt = findWholePictures(segments, uniform);
  const start = uniform.accessUnits.findLastIndex((_, index) => {
    const whole = wholeAt(index);
    return whole !== null && (age[whole] ?? 0) >= seconds * ptsPerSecond;
  });
  const isRefreshed = uniform.accessUnits.some(isRefresh);
  const first = isRefreshed ? uniform.accessUnits.findIndex((_, index) => wholeAt(index) !== null) : 0;
  const from = uniform.accessUnits[start < 0 ? first : start];
  if (from === undefined) return [];
  const video = segments
    .slice(from.segment)
    .map((segment, index) => gatherPackets(segment, index === 0 ? from.at : 0, uniform.video.pid));
  for (const packets of video) shiftAllTimestamps(packets, lastFramePts - newest);
  return [...uniform.psi, ...video];
}

/** Returns null if a PTS is missing or the list is empty. */
function readAllPts(
  segments: readonly Uint8Array[],
  accessUnits: AccessUnitIndex['accessUnits'],
): number[] | null {
  const timestamps = accessUnits.map(({ segment, at }) =>
    readPts(packetPayload(segments[segment]?.subarray(at, at + packetBytes) ?? new Uint8Array())),
  );
  const readable = timestamps.filter((pts) => pts !== null);
  return readable.length === 0 || readable.length < timestamps.length ? null : readable;
}

function shiftAllTimestamps(packets: Uint8Array, by: number): void {
  for (let offset = 0; offset < packets.length; offset += packetBytes) {
    if (startsPayloadUnit(packets, offset))
      shiftTimestamps(packetPayload(packets.subarray(offset, offset + packetBytes)), by);
  }
}

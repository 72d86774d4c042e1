import { packetBytes, packetPayload, readPid, startsPayloadUnit } from './packet.ts';
import { ptsPerSecond, readPts, shiftTimestamps } from './pes-packet.ts';

/**
 * Sets the time of an MPEG-TS extract of one key frame, in place. Between extracts of one run of ffmpeg it must grow: after a step back in time, ffmpeg loses
 * frames now and then.
 */
export function placeKeyFrame(extract: Uint8Array, videoPid: number, seconds: number): void {
  for (let at = 0; at + packetBytes <= extract.length; at += packetBytes) {
    if (readPid(extract, at) !== videoPid || !startsPayloadUnit(extract, at)) continue;
    const payload = packetPayload(extract.subarray(at, at + packetBytes));
    const pts = readPts(payload);
    if (pts !== null) shiftTimestamps(payload, seconds * ptsPerSecond - pts);
  }
}

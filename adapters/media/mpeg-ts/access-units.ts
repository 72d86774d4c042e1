import {
  hasSyncByte,
  isRandomAccess,
  packetBytes,
  packetPayload,
  readPid,
  startsPayloadUnit,
} from './packet.ts';
import { hasPts } from './pes-packet.ts';
import { readPmtPid, readVideoPid } from './psi.ts';

/**
 * Index of successive MPEG-TS segments: the packets of the PSI, the video PID, and the offset of each access unit in its
 * segment.
 */
export type AccessUnitIndex = {
  /** Packets of the PAT and the PMT. */
  psi: Uint8Array[];
  videoPid: number;
  accessUnits: { segment: number; at: number; isKeyFrame: boolean }[];
};

/**
 * Indexes the access units of successive MPEG-TS segments, in decoding order. If the PMT names another video PID, those
 * before it are dropped: the newest ones count. Returns null for unusual input: several programs, PSI sections over
 * several packets, a segment that does not begin with a packet.
 */
export function indexAccessUnits(segments: readonly Uint8Array[]): AccessUnitIndex | null {
  let psi: Uint8Array[] = [];
  let pat: Uint8Array | null = null;
  let pmtPid: number | null = null;
  let videoPid: number | null = null;
  let accessUnits: AccessUnitIndex['accessUnits'] = [];
  for (const [segment, bytes] of segments.entries()) {
    for (let at = 0; at + packetBytes <= bytes.length; at += packetBytes) {
      if (!hasSyncByte(bytes, at)) return null;
      // One packet in a hundred starts an access unit; all others are skipped early.
      if (!startsPayloadUnit(bytes, at)) continue;
      const packet = bytes.subarray(at, at + packetBytes);
      const pid = readPid(packet);
      if (pid === 0) {
        const named = readPmtPid(packet);
        if (named !== null) [pat, pmtPid] = [packet, named];
        if (pmtPid === null) return null;
      } else if (pat !== null && pid === pmtPid) {
        const named = readVideoPid(packet);
        if (named !== null && named !== videoPid) [psi, videoPid, accessUnits] = [[pat, packet], named, []];
        if (videoPid === null) return null;
      } else if (pid === videoPid) {
        const isKeyFrame = isRandomAccess(packet);
        if (isKeyFrame || hasPts(packetPayload(packet))) accessUnits.push({ segment, at, isKeyFrame });
      }
    }
  }
  return videoPid === null ? null : { psi, videoPid, accessUnits };
}

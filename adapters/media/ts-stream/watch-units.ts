import {
  findPacket,
  isRandomAccess,
  packetBytes,
  packetPayload,
  readPid,
  startsPayloadUnit,
} from '../mpeg-ts/packet.ts';
import { ptsDifference, ptsPerSecond, readPts } from '../mpeg-ts/pes-packet.ts';
import { readPmtPid, readVideoPid } from '../mpeg-ts/psi.ts';

/** Watcher of an MPEG-TS stream that arrives, by the starts of its access units. */
export type UnitWatcher = {
  /** Reads the next bytes of the stream, from any place in a packet. */
  push(chunk: Uint8Array): void;
  /** Access units of video that have begun. */
  units(): number;
  /** Returns true if a key frame has arrived whole: an access unit follows it. */
  hasKeyFrame(): boolean;
  /** Time from the first key frame to the newest frame, in seconds; 0 without one. */
  secondsFromKeyFrame(): number;
  /** Time from the first frame to the newest one, in seconds. */
  seconds(): number;
};

/** Creates a watcher. It holds at most two packets. */
export function createUnitWatcher(): UnitWatcher {
  let rest = Buffer.alloc(0);
  let pmtPid: number | null = null;
  let videoPid: number | null = null;
  let units = 0;
  let unitsFromKeyFrame = 0;
  let firstPts: number | null = null;
  let keyFramePts: number | null = null;
  let [seconds, secondsFromKeyFrame] = [0, 0];
  return {
    push(chunk) {
      const bytes = Buffer.concat([rest, chunk]);
      let at = findPacket(bytes, 0);
      for (; at + 2 * packetBytes <= bytes.length; at = findPacket(bytes, at + packetBytes))
        readPacket(bytes.subarray(at, at + packetBytes));
      rest = Buffer.from(bytes.subarray(Math.max(at, bytes.length - 2 * packetBytes)));
    },
    units: () => units,
    hasKeyFrame: () => unitsFromKeyFrame > 1,
    secondsFromKeyFrame: () => secondsFromKeyFrame,
    seconds: () => seconds,
  };

  function readPacket(packet: Uint8Array): void {
    if (!startsPayloadUnit(packet)) return;
    const pid = readPid(packet);
    if (pid === 0) pmtPid = readPmtPid(packet) ?? pmtPid;
    else if (pid === pmtPid) videoPid = readVideoPid(packet) ?? videoPid;
    else if (pid === videoPid) readUnit(packet);
  }

  function readUnit(packet: Uint8Array): void {
    const pts = readPts(packetPayload(packet));
    const isKeyFrame = isRandomAccess(packet);
    if (pts === null && !isKeyFrame) return;
    units += 1;
    if (isKeyFrame || unitsFromKeyFrame > 0) unitsFromKeyFrame += 1;
    if (pts === null) return;
    firstPts ??= pts;
    seconds = Math.max(seconds, ptsDifference(firstPts, pts) / ptsPerSecond);
    if (isKeyFrame) keyFramePts ??= pts;
    if (keyFramePts !== null)
      secondsFromKeyFrame = Math.max(secondsFromKeyFrame, ptsDifference(keyFramePts, pts) / ptsPerSecond);
  }
}

import { indexAccessUnits } from './access-units.ts';
import { packetBytes, packetPayload, readByte, readPid, startsPayloadUnit } from './packet.ts';

/** Coded key frame of H.264 in Annex B format. */
export type KeyFrameUnits = {
  bytes: Uint8Array;
  /** SPS of the frame, as text: streams with the same SPS have pictures of the same size. */
  parameters: string;
};

const units = { keySlice: 5, sps: 7, pps: 8 };
const pesHeaderBytes = 9;

/**
 * Returns the H.264 key frame of an MPEG-TS extract that holds nothing else. Returns null for other input, and for a frame without its own parameter
 * sets, because a decoder that was used before may still have those of another stream.
 */
export function readKeyFrameUnits(extract: Uint8Array): KeyFrameUnits | null {
  const found = indexAccessUnits([extract]);
  if (found === null || found.accessUnits.length !== 1 || !found.accessUnits[0]?.isKeyFrame) return null;
  const parts: Uint8Array[] = [];
  for (let at = 0; at + packetBytes <= extract.length; at += packetBytes) {
    if (readPid(extract, at) !== found.videoPid) continue;
    const payload = packetPayload(extract.subarray(at, at + packetBytes));
    parts.push(
      startsPayloadUnit(extract, at) ? payload.subarray(pesHeaderBytes + readByte(payload, 8)) : payload,
    );
  }
  return readUnits(Buffer.concat(parts));
}

/** Returns the H.264 key frame of an access unit in Annex B format, or null for other units and without parameter sets of its own. */
export function readUnits(bytes: Buffer): KeyFrameUnits | null {
  const types = new Map(listUnits(bytes).map(({ type, unit }) => [type, unit]));
  const sps = types.get(units.sps);
  if (sps === undefined || !types.has(units.pps) || !types.has(units.keySlice)) return null;
  return { bytes, parameters: Buffer.from(sps).toString('base64') };
}

/** Lists the NAL units of a byte stream (ITU-T H.264, annex B). */
function listUnits(bytes: Buffer): { type: number; unit: Uint8Array }[] {
  const starts: number[] = [];
  for (let at = bytes.indexOf(startCode); at >= 0; at = bytes.indexOf(startCode, at + 3)) starts.push(at + 3);
  return starts.map((start, index) => ({
    type: readByte(bytes, start) & 0x1f,
    unit: bytes.subarray(start, (starts[index + 1] ?? bytes.length + 3) - 3),
  }));
}

const startCode = Buffer.from([0, 0, 1]);

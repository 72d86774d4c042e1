/** Access unit: its NAL units, without start codes and delimiter. */
export type AccessUnit = { nalUnits: Buffer[]; isKeyFrame: boolean };

/** Incremental parser; `push` returns the access units that are complete. */
export type AccessUnitSplitter = { push(chunk: Buffer): AccessUnit[] };

/** NAL unit types of H.264. */
export const nalType = {
  keyFrameSlice: 5,
  sequenceParameters: 7,
  pictureParameters: 8,
  delimiter: 9,
} as const;

/**
 * Splits an H.264 byte stream (Annex B) at access unit delimiters. An access unit is complete when the next one begins.
 */
export function createAccessUnitSplitter(): AccessUnitSplitter {
  let pending: Buffer = Buffer.alloc(0);
  let nalUnits: Buffer[] = [];
  return {
    push(chunk) {
      pending = Buffer.concat([pending, chunk]);
      const units: AccessUnit[] = [];
      for (let next = cutNalUnit(pending); next !== null; next = cutNalUnit(pending)) {
        pending = next.rest;
        if (readType(next.nalUnit) !== nalType.delimiter) nalUnits.push(next.nalUnit);
        else if (nalUnits.length > 0) {
          units.push({
            nalUnits,
            isKeyFrame: nalUnits.some((unit) => readType(unit) === nalType.keyFrameSlice),
          });
          nalUnits = [];
        }
      }
      return units;
    },
  };
}

/** Returns the type of a NAL unit. */
export function readType(nalUnit: Buffer): number {
  return (nalUnit[0] ?? 0) & 0x1f;
}

const startCode = Buffer.from([0, 0, 1]);

/** Returns the NAL unit between the first two start codes; `null` if there are fewer. */
function cutNalUnit(bytes: Buffer): { nalUnit: Buffer; rest: Buffer } | null {
  const start = bytes.indexOf(startCode);
  const end = start < 0 ? -1 : bytes.indexOf(startCode, start + startCode.length);
  if (end < 0) return null;
  let last = end;
  while (bytes[last - 1] === 0) last -= 1; // A start code may have four bytes.
  return { nalUnit: bytes.subarray(start + startCode.length, last), rest: bytes.subarray(end) };
}

/** Returns the RTP payloads of a NAL unit: the unit itself, or fragments (FU-A, RFC 6184) of at most 1,402 bytes. */
export function rtpPayloads(nalUnit: Buffer): Buffer[] {
  if (nalUnit.length <= maxPayloadBytes) return [nalUnit];
  const header = nalUnit[0] ?? 0;
  const indicator = (header & 0xe0) | fragmentType;
  const payloads: Buffer[] = [];
  for (let at = 1; at < nalUnit.length; at += maxPayloadBytes) {
    const fragment = nalUnit.subarray(at, at + maxPayloadBytes);
    const first = at === 1 ? 0x80 : 0;
    const last = at + maxPayloadBytes >= nalUnit.length ? 0x40 : 0;
    payloads.push(Buffer.concat([Buffer.from([indicator, first | last | (header & 0x1f)]), fragment]));
  }
  return payloads;
}

const fragmentType = 28;
const maxPayloadBytes = 1400;

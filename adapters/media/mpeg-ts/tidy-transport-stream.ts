import type { UnitRules } from '../h264/entry-point.ts';
import { indexAccessUnits } from './access-units.ts';
import { packetBytes, packetPayload, readByte, readPid, startsPayloadUnit } from './packet.ts';
import { pesHeaderBytes, readPts } from './pes-packet.ts';
import { listUnits } from './unit-begin.ts';
import { writeTransportStream, type TimedUnit } from './write-transport-stream.ts';

const startCode = Buffer.from([0, 0, 0, 1]);
const suffixInformation265 = 40;

/**
 * Writes the video of MPEG-TS that begins with a key frame again, with what a decoder needs of it. One that stops at each error stops at wrong lengths of PES packets
 * too, at supplemental information that it cannot read, and at parameter sets between two slices. Returns null for other input.
 */
export function tidyTransportStream(bytes: Uint8Array): Buffer | null {
  const found = indexAccessUnits([bytes]);
  const { rules } = found?.video ?? {};
  if (!found || !rules) return null;
  const { accessUnits, video } = found;
  const units: TimedUnit[] = [];
  for (const [index, { at, isKeyFrame }] of accessUnits.entries()) {
    const payloads = readPayloads(bytes.subarray(at, accessUnits[index + 1]?.at), video.pid);
    const pts = readPts(payloads[0] ?? new Uint8Array());
    if (pts === null) return null;
    units.push({ bytes: readNeeded(payloads, rules), isKeyFrame, pts });
  }
  const [first] = units;
  return first && beginsWithKeySlice(first.bytes, rules) ? writeTransportStream(rules.codec, units) : null;
}

/** Returns payloads of packets as those of one PES packet. */
function readPayloads(bytes: Uint8Array, pid: number): Uint8Array[] {
  const payloads: Uint8Array[] = [];
  for (let at = 0; at + packetBytes <= bytes.length; at += packetBytes) {
    if (readPid(bytes, at) !== pid) continue;
    const payload = packetPayload(bytes.subarray(at, at + packetBytes));
    const isLater = at > 0 && startsPayloadUnit(bytes, at);
    payloads.push(isLater ? payload.subarray(pesHeaderBytes + readByte(payload, 8)) : payload);
  }
  return payloads;
}

function readNeeded(payloads: readonly Uint8Array[], rules: UnitRules): Buffer {
  const needed: Uint8Array[] = [];
  let hasSlice = false;
  for (const unit of listUnits(payloads)) {
    const type = rules.readType(readByte(unit, 0));
    const isSlice = rules.isSlice(type);
    const isInformation =
      type === rules.information || (rules.codec === 'H265' && type === suffixInformation265);
    if (isInformation || (hasSlice && !isSlice)) continue;
    hasSlice ||= isSlice;
    needed.push(startCode, unit);
  }
  return Buffer.concat(needed);
}

function beginsWithKeySlice(bytes: Uint8Array, rules: UnitRules): boolean {
  for (const unit of listUnits([Buffer.alloc(pesHeaderBytes), bytes])) {
    const type = rules.readType(readByte(unit, 0));
    if (rules.isSlice(type)) return rules.isKeySlice(type);
  }
  return false;
}

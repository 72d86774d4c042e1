import { createEntryPointReader, type EntryPointReader, type UnitRules } from '../h264/entry-point.ts';
import { pesHeaderBytes } from './pes-packet.ts';
import { packetBytes, packetPayload, readByte, readPid, startsPayloadUnit } from './packet.ts';

/** Information of encoders before the first slice has 2 kB. */
const maxPackets = 16;
const startCode = Buffer.from([0, 0, 1]);

/** Reads the access unit whose first packet is at an offset, up to its first slice. */
export function readUnitBegin(
  bytes: Uint8Array,
  from: number,
  pid: number,
  rules: UnitRules,
): EntryPointReader {
  const payloads: Uint8Array[] = [];
  for (let offset = from; offset + packetBytes <= bytes.length; offset += packetBytes) {
    if (readPid(bytes, offset) !== pid) continue;
    if (payloads.length === maxPackets || (offset > from && startsPayloadUnit(bytes, offset))) break;
    payloads.push(packetPayload(bytes.subarray(offset, offset + packetBytes)));
  }
  return readUnits(payloads, rules);
}

/** Reads the payloads of the packets of one access unit, the first of which has the header of a PES packet. */
export function readUnits(payloads: readonly Uint8Array[], rules: UnitRules): EntryPointReader {
  const reader = createEntryPointReader(rules);
  for (const unit of listUnits(payloads)) {
    reader.note(unit);
    if (reader.hasSlice()) break;
  }
  return reader;
}

/** Yields the units of one access unit. */
export function* listUnits(payloads: readonly Uint8Array[]): Generator<Uint8Array> {
  const pes = Buffer.concat(payloads);
  let offset = pes.indexOf(startCode, pesHeaderBytes + readByte(pes, 8));
  while (offset >= 0) {
    const next = pes.indexOf(startCode, offset + startCode.length);
    yield pes.subarray(offset + startCode.length, next < 0 ? pes.length : next);
    offset = next;
  }
}

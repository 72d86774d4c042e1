import { indexAccessUnits, keyFrameEnd, maxAccessUnits } from './access-units.ts';
import {
  copyPackets,
  packetBytes,
  packetPayload,
  readByte,
  readPid,
  startsPayloadUnit,
  findPacket,
  isRandomAccess,
} from './packet.ts';
import { pesHeaderBytes, ptsDifference, ptsPerSecond, readPts, shiftTimestamps } from './pes-packet.ts';
import { readCodedPicture, type CodedPicture } from '../h264/coded-picture.ts';
import { createTableReader } from './psi.ts';

/**
 * Returns PAT, PMT and the last key frame of an MPEG-TS segment. Returns null if no key frame is marked or the
 * segment is unusual. ffmpeg then reads a tenth of the bytes and decodes one frame instead of every key frame.
 */
export function extractLastKeyFrame(
  segment: Uint8Array,
  index = indexAccessUnits([segment]),
): Uint8Array | null {
  if (index === null) return null;
  const last = index.accessUnits.findLastIndex(({ isKeyFrame }) => isKeyFrame);
  const from = index.accessUnits[last]?.at;
  if (from === undefined) return null;
  return copyPackets(index.psi, segment.subarray(from, keyFrameEnd(segment, index, last)), index.video.pid);
}

/**
 * Key frame of a segment, undecoded: PAT, PMT and its packets. `seconds` is the time from the first frame of the
 * segment.
 */
export type KeyFrameExtract = { seconds: number; bytes: Uint8Array; videoPid: number };

/**
 * Returns copies of all key frames of an MPEG-TS segment, in decoding order. Returns null if the segment or its
 * timestamps are unusual.
 */
export function extractKeyFrames(
  segment: Uint8Array,
  indexed = indexAccessUnits([segment]),
): KeyFrameExtract[] | null {
  if (indexed === null) return null;
  const offsets: number[] = [];
  let base: number | undefined;
  for (const { at } of indexed.accessUnits) {
    const pts = readPts(packetPayload(segment.subarray(at, at + packetBytes)));
    if (pts === null) return null;
    base ??= pts;
    offsets.push(ptsDifference(base, pts) / ptsPerSecond);
  }
  const first = offsets.reduce((least, offset) => Math.min(least, offset), 0);
  return indexed.accessUnits.flatMap(({ at, isKeyFrame }, index) => {
    if (!isKeyFrame) return [];
    const end = keyFrameEnd(segment, indexed, index);
    const bytes = copyPackets(indexed.psi, segment.subarray(at, end), indexed.video.pid);
    return [{ seconds: (offsets[index] ?? 0) - first, bytes, videoPid: indexed.video.pid }];
  });
}

/**
 * Sets the time of an MPEG-TS extract of one key frame, in place. Between extracts of one run of ffmpeg it must grow:
 * after a step back in time, ffmpeg loses frames now and then.
 */
export function placeKeyFrame(extract: Uint8Array, videoPid: number, seconds: number): void {
  for (let offset = 0; offset + packetBytes <= extract.length; offset += packetBytes) {
    if (readPid(extract, offset) !== videoPid || !startsPayloadUnit(extract, offset)) continue;
    const payload = packetPayload(extract.subarray(offset, offset + packetBytes));
    const pts = readPts(payload);
    if (pts !== null) shiftTimestamps(payload, seconds * ptsPerSecond - pts);
  }
}

/**
 * Returns the H.264 key frame of an MPEG-TS extract that holds nothing else. Returns null for other input, and in any
 * doubt.
 */
export function readKeyFrameUnits(extract: Uint8Array): CodedPicture | null {
  const index = indexAccessUnits([extract]);
  if (index === null || index.accessUnits.length !== 1 || !index.accessUnits[0]?.isKeyFrame) return null;
  const parts: Uint8Array[] = [];
  for (let offset = 0; offset + packetBytes <= extract.length; offset += packetBytes) {
    if (readPid(extract, offset) !== index.video.pid) continue;
    const payload = packetPayload(extract.subarray(offset, offset + packetBytes));
    parts.push(
      startsPayloadUnit(extract, offset) ? payload.subarray(pesHeaderBytes + readByte(payload, 8)) : payload,
    );
  }
  return readCodedPicture(Buffer.concat(parts));
}

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
    let start = findPacket(segment, 0);
    start + packetBytes <= segment.length;
    start = findPacket(segment, start + packetBytes)
  ) {
    // One packet in a hundred starts an access unit; all others are skipped early.
    if (!startsPayloadUnit(segment, start)) continue;
    const packet = segment.subarray(start, start + packetBytes);
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

import { codedSize, mayHaveFields } from '../h264/coded-size.ts';
import {
  hasSyncByte,
  isRandomAccess,
  packetBytes,
  packetPayload,
  readPid,
  startsPayloadUnit,
} from './packet.ts';
import { hasPts } from './pes-packet.ts';
import { createTableReader, type VideoStream } from './psi.ts';
import { readUnitBegin } from './unit-begin.ts';

/**
 * Index of successive MPEG-TS segments: the packets of the PSI, the video PID, and the offset of each access unit in
 * its segment.
 */
export type AccessUnitIndex = {
  /** Packets of the PAT and the PMT. */
  psi: Uint8Array[];
  video: VideoStream;
  accessUnits: IndexedUnit[];
};

type IndexedUnit = {
  segment: number;
  at: number;
  isKeyFrame: boolean;
  /** Reference frames after the begin of an intra refresh until a picture is whole. Absent for all other units. */
  recoveryFrames?: number;
};

/**
 * Maximum access units, above a minute of 60 frames a second. A segment may repeat one packet that begins a unit, and
 * each costs as much as a frame.
 */
export const maxAccessUnits = 6_000;

/**
 * Indexes the access units of successive MPEG-TS segments, in decoding order. If the PMT names another video PID, those
 * before it are dropped: the newest ones count. Returns null for unusual input: several programs, a segment
 * that does not begin with a packet, too many units.
 */
export function indexAccessUnits(segments: readonly Uint8Array[]): AccessUnitIndex | null {
  const tables = createTableReader();
  let video: VideoStream | null = null;
  let accessUnits: AccessUnitIndex['accessUnits'] = [];
  for (const [segment, bytes] of segments.entries()) {
    for (let offset = 0; offset + packetBytes <= bytes.length; offset += packetBytes) {
      if (!hasSyncByte(bytes, offset)) return null;
      // One packet in a hundred starts an access unit; all others are skipped early.
      if (!startsPayloadUnit(bytes, offset) && !tables.isWithin()) continue;
      const packet = bytes.subarray(offset, offset + packetBytes);
      if (tables.read(packet)) {
        const named = tables.video();
        if (named && isOther(named, video)) accessUnits = [];
        video = named ?? video;
      } else if (readPid(packet) === video?.pid && startsPayloadUnit(packet)) {
        if (isRandomAccess(packet))
          accessUnits.push({ segment, at: offset, ...readEntry(bytes, offset, video) });
        else if (hasPts(packetPayload(packet))) accessUnits.push({ segment, at: offset, isKeyFrame: false });
        if (accessUnits.length > maxAccessUnits) return null;
      }
    }
  }
  if (video === null) return null;
  if (!accessUnits.some((unit) => unit.isKeyFrame || isRefresh(unit)))
    findUnmarked(segments, accessUnits, video);
  return { psi: tables.packets(), video, accessUnits };
}

/** Some servers mark no key frames. */
function findUnmarked(
  segments: readonly Uint8Array[],
  accessUnits: IndexedUnit[],
  { pid, rules }: VideoStream,
): void {
  for (const unit of accessUnits) {
    const bytes = segments[unit.segment];
    if (bytes && rules)
      unit.isKeyFrame = readUnitBegin(bytes, unit.at, pid, rules).entryPoint()?.recoveryFrames === 0;
  }
}

/** Another codec with the same PID is another stream. */
function isOther(named: VideoStream, before: VideoStream | null): boolean {
  return named.pid !== before?.pid || named.rules !== before.rules;
}

/** Encoders mark the begin of an intra refresh like a key frame. */
function readEntry(
  bytes: Uint8Array,
  offset: number,
  { pid, rules }: VideoStream,
): Pick<IndexedUnit, 'isKeyFrame' | 'recoveryFrames'> {
  const recoveryFrames =
    (rules && readUnitBegin(bytes, offset, pid, rules).entryPoint()?.recoveryFrames) ?? 0;
  return recoveryFrames === 0 ? { isKeyFrame: true } : { isKeyFrame: false, recoveryFrames };
}

/**
 * Returns the offset behind a key frame of a segment: with interlaced video, its second field may be a unit of its own.
 */
export function keyFrameEnd(
  segment: Uint8Array,
  { accessUnits, video: { pid, rules } }: AccessUnitIndex,
  index: number,
): number {
  const { at = 0 } = accessUnits[index] ?? {};
  const hasFields = rules && mayHaveFields(readUnitBegin(segment, at, pid, rules).sequenceSet(), rules);
  return accessUnits[index + (hasFields ? 2 : 1)]?.at ?? segment.length;
}

/** Returns the index without the access units before the last change of the resolution. */
export function afterChangeOfSize(
  segments: readonly Uint8Array[],
  { psi, video, accessUnits }: AccessUnitIndex,
): AccessUnitIndex {
  const { pid, rules } = video;
  let start = 0;
  let before: string | undefined;
  for (const [index, unit] of accessUnits.entries()) {
    const bytes = segments[unit.segment];
    if (!rules || !bytes || !(unit.isKeyFrame || isRefresh(unit))) continue;
    const set = readUnitBegin(bytes, unit.at, pid, rules).sequenceSet();
    const size = set && codedSize(set, rules);
    if (before && size && size !== before) start = index;
    before = size ?? before;
  }
  return { psi, video, accessUnits: accessUnits.slice(start) };
}

/** Returns true if segments have intra refresh, in the place of key frames or beside them. */
export function beginsRefresh(segments: readonly Uint8Array[], index = indexAccessUnits(segments)): boolean {
  return index?.accessUnits.some(isRefresh) ?? false;
}

export function isRefresh({ recoveryFrames }: AccessUnitIndex['accessUnits'][number]): boolean {
  return recoveryFrames !== undefined;
}

/**
 * Returns a function from the index of an access unit to that of the first whole picture of a decoder that begins with
 * it; null before its arrival, and if decoding cannot begin there.
 */
export function findWholePictures(
  segments: readonly Uint8Array[],
  { video, accessUnits }: AccessUnitIndex,
): (index: number) => number | null {
  const { pid, rules } = video;
  const isRefreshed = accessUnits.some(isRefresh);
  /** Indexes of the frames that others refer to, and how many there are up to each unit. */
  const references: number[] = [];
  const counts = accessUnits.map(({ segment, at }, index) => {
    const bytes = segments[segment];
    const isReference = isRefreshed && rules && bytes && readUnitBegin(bytes, at, pid, rules).isReference();
    if (isReference) references.push(index);
    return references.length;
  });
  return (index) => {
    const { isKeyFrame, recoveryFrames } = accessUnits[index] ?? {};
    if (isKeyFrame) return index;
    if (recoveryFrames === undefined) return null;
    return references[(counts[index] ?? 0) - 1 + recoveryFrames] ?? null;
  };
}

import { mayHaveFields } from '../h264/coded-size.ts';
import {
  findPacket,
  isRandomAccess,
  packetBytes,
  packetPayload,
  readPid,
  startsPayloadUnit,
} from '../mpeg-ts/packet.ts';
import { ptsDifference, ptsPerSecond, readPts } from '../mpeg-ts/pes-packet.ts';
import { createTableReader } from '../mpeg-ts/psi.ts';
import { readUnits } from '../mpeg-ts/unit-begin.ts';

/** Watcher of an MPEG-TS stream that arrives, by the starts of its access units. */
export type UnitWatcher = ReturnType<typeof createUnitWatcher>;

/** Access unit that has begun, with the payloads of its first packets. */
type BegunUnit = { payloads: Uint8Array[]; isMarked: boolean; pts: number | null };

/** Packets of an access unit that are read for its kind. */
const maxPackets = 16;

/** Creates a watcher. It holds at most the first packets of an access unit. */
export function createUnitWatcher() {
  let rest = Buffer.alloc(0);
  const tables = createTableReader();
  /** First packets of the newest access unit. */
  let begun: BegunUnit | null = null;
  /**
   * Reference frames until a picture is whole; undefined before the first key frame, or the begin of an intra refresh.
   */
  let recoveryFrames: number | undefined;
  let hasMarks = false;
  let units = 0;
  let isWhole = false;
  let firstPts: number | null = null;
  let keyFramePts: number | null = null;
  let [seconds, secondsFromKeyFrame] = [0, 0];
  return {
    /** Reads the next bytes of the stream, from any place in a packet. */
    push(chunk: Uint8Array): void {
      const bytes = Buffer.concat([rest, chunk]);
      let at = findPacket(bytes, 0);
      for (; at + 2 * packetBytes <= bytes.length; at = findPacket(bytes, at + packetBytes))
        readPacket(bytes.subarray(at, at + packetBytes));
      rest = Buffer.from(bytes.subarray(Math.max(at, bytes.length - 2 * packetBytes)));
    },
    /** Ends the access unit under way: all of it has arrived. */
    end(): void {
      if (rest.length >= packetBytes) readPacket(rest.subarray(0, packetBytes));
      rest = Buffer.alloc(0);
      if (begun && !isWhole) endUnit(begun);
      begun = null;
    },
    /** Access units of video that have begun. */
    units: () => units,
    /** Returns true if a key frame is found without a mark: its slices are read. */
    readsSlices: () => Boolean(tables.video()?.rules),
    /**
     * Returns true if a key frame has arrived whole: an access unit follows it. With intra refresh, the first whole
     * picture counts.
     */
    hasKeyFrame: () => isWhole,
    /** Time from the first key frame or whole picture to the newest frame, in seconds; 0 without one. */
    secondsFromKeyFrame: () => secondsFromKeyFrame,
    /** Time from the first frame to the newest one, in seconds. */
    seconds: () => seconds,
  };

  function readPacket(packet: Uint8Array): void {
    if (tables.read(packet)) return;
    if (readPid(packet) !== tables.video()?.pid) return;
    if (startsPayloadUnit(packet)) beginUnit(packet);
    else if (!isWhole && begun && begun.payloads.length < maxPackets)
      begun.payloads.push(packetPayload(packet));
  }

  function beginUnit(packet: Uint8Array): void {
    const payload = packetPayload(packet);
    const pts = readPts(payload);
    const isMarked = isRandomAccess(packet);
    hasMarks ||= isMarked;
    if (pts === null && !isMarked) return;
    if (begun && !isWhole) endUnit(begun);
    begun = { payloads: [payload], isMarked, pts };
    units += 1;
    if (pts === null) return;
    firstPts ??= pts;
    seconds = Math.max(seconds, ptsDifference(firstPts, pts) / ptsPerSecond);
    if (keyFramePts !== null)
      secondsFromKeyFrame = Math.max(secondsFromKeyFrame, ptsDifference(keyFramePts, pts) / ptsPerSecond);
  }

  function endUnit({ payloads, isMarked, pts }: BegunUnit): void {
    if (!isMarked && recoveryFrames === undefined && hasMarks) return;
    const rules = tables.video()?.rules;
    const unit = rules ? readUnits(payloads, rules) : null;
    // Some servers mark no key frames.
    if (!isMarked && recoveryFrames === undefined && unit?.entryPoint()?.recoveryFrames !== 0) return;
    // The second field of interlaced video may be a unit of its own.
    const fields = rules && mayHaveFields(unit?.sequenceSet(), rules) ? 1 : 0;
    if (recoveryFrames === undefined) recoveryFrames = fields + (unit?.entryPoint()?.recoveryFrames ?? 0);
    else if (unit?.isReference() ?? true) recoveryFrames -= 1;
    if (recoveryFrames > 0) return;
    isWhole = true;
    keyFramePts = pts;
  }
}

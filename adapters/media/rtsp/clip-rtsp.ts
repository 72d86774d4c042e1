import type { ClipRequest, ClipResult } from '../../../core/records/clip.ts';
import type { GroupUnits, KeptPart } from '../clips/kept-stream.ts';
import { readClip, type ClipDeps } from '../clips/read-clip.ts';
import { ptsPerSecond } from '../mpeg-ts/pes-packet.ts';
import { writeTransportStream } from '../mpeg-ts/write-transport-stream.ts';
import { rtpDifference } from './rtp/rtp-packet.ts';
import type { EndedGroup } from './session/gop-buffer.ts';

/** Also without a session: the next capture opens one. */
const waitSeconds = 3;

/** Returns a group as part of a clip. `toClock` converts the time of an arrival to that of the captures. */
export function toGroupPart(
  { units, sessionId, number, endedMs, keepSeconds }: EndedGroup,
  { codec, clockRate }: Pick<GroupUnits, 'codec' | 'clockRate'>,
  toClock: (arrivedMs: number) => number,
): KeptPart {
  return {
    id: `${sessionId}:${number}`,
    place: BigInt(number),
    startMs: toClock(units[0]?.arrivedMs ?? endedMs),
    endMs: toClock(endedMs),
    isBreak: number === 0,
    format: 'mpegts',
    initialization: null,
    // Units share memory with others, which they would keep.
    bytes: Buffer.concat(units.map(({ bytes }) => bytes)),
    units: {
      codec,
      clockRate,
      size: units[0]?.codedSize ?? '',
      entries: units.map(({ bytes, isKeyFrame, timestamp }) => ({
        length: bytes.length,
        isKeyFrame,
        timestamp,
      })),
    },
    keepSeconds,
  };
}

/** Reads a clip from the groups that a session has kept. */
export async function clipRtsp(
  deps: ClipDeps,
  request: ClipRequest,
  signal: AbortSignal,
): Promise<ClipResult> {
  const source = {
    stream: nameStream(request.url),
    waitSeconds,
    toChunks,
    trim: (parts: KeptPart[]) => parts,
  };
  return readClip(deps, source, request, signal);
}

/** Returns the name of the stream of a URL among those that are kept. */
export function nameStream(url: string): string {
  return `session ${url}`;
}

function toChunks(parts: readonly KeptPart[]): Uint8Array[] {
  const [first] = parts;
  if (!first?.units) return [];
  const { codec, clockRate, entries } = first.units;
  const begin = entries[0]?.timestamp ?? 0;
  const units = parts.flatMap(({ bytes, units: group }) => {
    let offset = 0;
    return (group?.entries ?? []).map(({ length, isKeyFrame, timestamp }) => ({
      bytes: bytes.subarray(offset, (offset += length)),
      isKeyFrame,
      pts: Math.round((rtpDifference(begin, timestamp) / clockRate + beginSeconds) * ptsPerSecond),
    }));
  });
  return [writeTransportStream(codec, units)];
}

/** Time of the first picture: pictures that a decoder needs earlier are not before 0. */
const beginSeconds = 10;

import { createBitReader, MalformedUnitError } from '../../h264/bits.ts';
import { h264Units, h265Units, type UnitRules } from '../../h264/entry-point.ts';
import type { VideoTrack } from '../protocol/sdp.ts';

/** Rules by which RTP carries the NAL units of a codec: H.264 (RFC 6184) or H.265 (RFC 7798). */
export type NalRules = UnitRules & {
  aggregate: number;
  fragment: number;
  /** Types above are packets of RTP, not units. */
  maxUnit: number;
  /** First type that no standard defines: cameras put data of their own there. */
  undefinedFrom: number;
  /** Types that end a sequence or the stream, and have a head alone. */
  ends: readonly number[];
  /** Header of the unit whose fragments begin with this payload. */
  fragmentHead(payload: Uint8Array): Uint8Array;
  /** Parameter sets that a decoder needs before a key frame. */
  parameterSets: readonly number[];
  /** Type and id of a parameter set, as text. */
  parameterSetName(set: Uint8Array): string;
};

const h264: NalRules = {
  ...h264Units,
  aggregate: 24,
  fragment: 28,
  maxUnit: 23,
  undefinedFrom: 30,
  ends: [10, 11],
  fragmentHead: (payload) => Uint8Array.of((byteAt(payload, 0) & 0xe0) | (byteAt(payload, 1) & 0x1f)),
  parameterSets: [7, 8],
  // The id of an SPS follows its profile and level.
  parameterSetName: (set) => nameSet(h264, set, byteAt(set, 0) % 32 === 7 ? 4 : 1),
};

const h265: NalRules = {
  ...h265Units,
  aggregate: 48,
  fragment: 49,
  maxUnit: 47,
  undefinedFrom: 51,
  ends: [36, 37],
  fragmentHead: (payload) =>
    Uint8Array.of((byteAt(payload, 0) & 0x81) | ((byteAt(payload, 2) & 0x3f) << 1), byteAt(payload, 1)),
  parameterSets: [32, 33, 34],
  // A VPS begins with its id. That of an SPS follows a structure of variable length: a stream has one SPS.
  parameterSetName: (set) =>
    h265.readType(byteAt(set, 0)) === 33
      ? 'SPS'
      : nameSet(h265, set, 2, h265.readType(byteAt(set, 0)) === 32),
};

/**
 * Returns the rules for a track, or null for other codecs and for interleaved packets, whose units are not in decoding
 * order.
 */
export function nalRules({ codec, parameters }: Pick<VideoTrack, 'codec' | 'parameters'>): NalRules | null {
  const isReordered = /packetization-mode=2|sprop-max-don-diff=[1-9]/i.test(parameters ?? '');
  if (isReordered) return null;
  return codec === 'H264' ? h264 : codec === 'H265' ? h265 : null;
}

/** Names a set by its type and the id in the first four bits or the Exp-Golomb code at an offset. */
function nameSet(rules: NalRules, set: Uint8Array, offset: number, hasFourBits = false): string {
  const reader = createBitReader(set.subarray(offset));
  const type = rules.readType(byteAt(set, 0));
  try {
    return `${type} ${hasFourBits ? reader.bits(4) : reader.unsigned()}`;
  } catch (error) {
    if (error instanceof MalformedUnitError) return `${type}`;
    throw error;
  }
}

/** Returns true for a packet of a type that no standard defines, or for a fragment of such a unit. */
export function hasUndefinedType(payload: Uint8Array, rules: NalRules): boolean {
  const type = rules.readType(byteAt(payload, 0));
  if (type !== rules.fragment) return type >= rules.undefinedFrom;
  return rules.readType(byteAt(rules.fragmentHead(payload), 0)) > rules.maxUnit;
}

/**
 * Splits an aggregation packet, in which a 16-bit length precedes each unit. Ignores padding. Returns null if a length
 * is wrong.
 */
export function splitAggregate(payload: Uint8Array, headBytes: number): Uint8Array[] | null {
  const units: Uint8Array[] = [];
  for (let offset = headBytes; offset + 2 <= payload.length;) {
    const end = offset + 2 + byteAt(payload, offset) * 256 + byteAt(payload, offset + 1);
    if (end > payload.length) return null;
    if (end > offset + 2) units.push(payload.subarray(offset + 2, end));
    offset = end;
  }
  return units;
}

const startCode = Buffer.from([0, 0, 1]);

/**
 * Returns the units of one that has start codes inside, which RTP does not permit and some cameras send: parameter sets
 * and key frame as one, or a start code in front. Those behind the begin of a slice are not read.
 */
export function splitJoined(unit: Uint8Array, rules: NalRules): Uint8Array[] {
  const bytes = Buffer.from(unit.buffer, unit.byteOffset, unit.length);
  const units: Uint8Array[] = [];
  for (let from = 0; from < bytes.length;) {
    const first = byteAt(bytes, from);
    const isSlice = first !== 0 && rules.isSlice(rules.readType(first));
    const code = isSlice ? -1 : bytes.indexOf(startCode, from);
    const end = code < 0 ? bytes.length : code - (bytes[code - 1] === 0 ? 1 : 0);
    if (end > from) units.push(unit.subarray(from, end));
    from = code < 0 ? bytes.length : code + startCode.length;
  }
  return units;
}

/**
 * Returns what a payload begins with: the middle of a fragmented unit, a slice that continues its picture, or anything
 * else.
 */
export function readPayloadBegin(payload: Uint8Array, rules: NalRules): 'fragment' | 'slice' | 'other' {
  const type = rules.readType(byteAt(payload, 0));
  const { headBytes } = rules;
  const isFragment = type === rules.fragment;
  if (isFragment && (byteAt(payload, headBytes) & 0x80) === 0) return 'fragment';
  const begun = isFragment ? rules.readType(byteAt(rules.fragmentHead(payload), 0)) : type;
  const sliceByte = payload[headBytes + (isFragment ? 1 : 0)];
  const isContinued = sliceByte !== undefined && sliceByte < 0x80;
  return rules.isSlice(begun) && isContinued ? 'slice' : 'other';
}

/**
 * Returns the parameter sets of a session description in the order in which a decoder needs them: some servers sort
 * them by name. Other content is ignored.
 */
export function describedParameterSets(parameters: string | null, rules: NalRules): Uint8Array[] {
  return [...(parameters ?? '').matchAll(/sprop-(?:parameter-sets|vps|sps|pps)\s*=\s*([^;\s]+)/gi)]
    .flatMap(([, list = '']) => list.split(','))
    .flatMap((text) => splitJoined(new Uint8Array(Buffer.from(text, 'base64')), rules))
    .filter((unit) => rank(unit) >= 0)
    .toSorted((one, other) => rank(one) - rank(other));

  function rank(unit: Uint8Array): number {
    return rules.parameterSets.indexOf(rules.readType(byteAt(unit, 0)));
  }
}

function byteAt(bytes: Uint8Array, offset: number): number {
  return bytes[offset] ?? 0;
}

import type { BitReader } from './bits.ts';
import { readBits, withoutPrevention, type UnitRules } from './entry-point.ts';

export type SequenceSet = {
  /** Equal for pictures of one size, in H.264 also of one ratio of their pixels. */
  size: number[];
  /** H.264: bits of the frame number. H.265: bits of the place of a slice. */
  numberBits: number;
  /** H.264: true if frame numbers may be left out, and if pictures may be single fields. */
  mayHaveGaps: boolean;
  mayHaveFields: boolean;
  /** H.265: blocks of a row, of which places are counted. */
  rowBlocks: number;
};

/** The window of the size is near the begin. */
const maxBytes = 512;

/** Reads an SPS (ITU-T H.264, 7.3.2.1.1; H.265, 7.3.2.2.1). Returns null for one that cannot be read. */
export function readSequenceSet(set: Uint8Array, { codec, headBytes }: UnitRules): SequenceSet | null {
  const content = withoutPrevention(set.subarray(headBytes, maxBytes));
  return readBits(content, codec === 'H264' ? readH264 : readH265);
}

/**
 * Returns a text that is equal for two SPS whose pictures have one size. One that cannot be read is equal to itself
 * only.
 */
export function codedSize(set: Uint8Array, rules: UnitRules): string {
  return readSequenceSet(set, rules)?.size.join(' ') ?? Buffer.from(set).toString('base64');
}

/** Returns true if the pictures of an SPS may be single fields, as of interlaced video. */
export function mayHaveFields(set: Uint8Array | undefined, rules: UnitRules): boolean {
  return set !== undefined && readSequenceSet(set, rules)?.mayHaveFields === true;
}

const profilesWithoutChroma = new Set([66, 77, 88]);
const orderWithCycle = 1;
const ownRatio = 255;

function readH264(reader: BitReader): SequenceSet | null {
  const { bits, unsigned, flag } = reader;
  const profile = bits(8);
  bits(16);
  unsigned();
  if (!profilesWithoutChroma.has(profile)) {
    skipChroma(reader);
    for (let depth = 0; depth < 2; depth += 1) unsigned();
    flag();
    const hasScalingLists = flag();
    if (hasScalingLists) return null;
  }
  const numberBits = unsigned() + 4;
  const order = unsigned();
  if (order === orderWithCycle) return null;
  if (order === 0) unsigned();
  unsigned();
  const mayHaveGaps = flag();
  const size = [unsigned(), unsigned()];
  const hasFramesOnly = bits(1);
  if (hasFramesOnly === 0) flag();
  flag();
  const window = readWindow(reader);
  const ratio = flag() && flag() ? bits(8) : 0;
  return {
    size: [...size, hasFramesOnly, ...window, ratio, ...(ratio === ownRatio ? [bits(32)] : [])],
    numberBits,
    mayHaveGaps,
    mayHaveFields: hasFramesOnly === 0,
    rowBlocks: 1,
  };
}

function readH265(reader: BitReader): SequenceSet {
  const { bits, unsigned, flag } = reader;
  bits(4);
  const layers = bits(3);
  bits(1);
  for (let word = 0; word < 3; word += 1) bits(32);
  const present = Array.from({ length: layers === 0 ? 0 : 8 }, () => [bits(1), bits(1)] as const);
  for (const [hasProfile, hasLevel] of present) bits(88 * hasProfile + 8 * hasLevel);
  unsigned();
  skipChroma(reader);
  const [width, height] = [unsigned(), unsigned()];
  const size = [width, height, ...readWindow(reader)];
  for (let value = 0; value < 3; value += 1) unsigned();
  for (let layer = flag() ? 0 : layers; layer <= layers; layer += 1)
    for (let value = 0; value < 3; value += 1) unsigned();
  const blockSize = 2 ** (unsigned() + 3 + unsigned());
  const rowBlocks = Math.max(1, Math.ceil(width / blockSize));
  const blocks = rowBlocks * Math.ceil(height / blockSize);
  const numberBits = Math.ceil(Math.log2(Math.max(1, blocks)));
  return { size, numberBits, mayHaveGaps: false, mayHaveFields: false, rowBlocks };
}

function skipChroma({ unsigned, flag }: BitReader): void {
  const separable = 3;
  if (unsigned() === separable) flag();
}

function readWindow({ flag, unsigned }: BitReader): number[] {
  return flag() ? Array.from({ length: 4 }, () => unsigned()) : [];
}

import type { BitReader } from './bits.ts';
import { readBits, withoutPrevention, type UnitRules } from './entry-point.ts';

/** The window of the size is near the begin. */
const maxBytes = 512;

/**
 * Returns a text that is equal for two SPS whose pictures have one size (ITU-T H.264, 7.3.2.1.1; H.265, 7.3.2.2.1), in H.264 also one ratio of their pixels.
 * One that cannot be read is equal to itself only.
 */
export function codedSize(set: Uint8Array, { codec, headBytes }: UnitRules): string {
  const content = withoutPrevention(set.subarray(headBytes, maxBytes));
  const values = readBits(content, codec === 'H264' ? readH264 : readH265);
  return values?.join(' ') ?? Buffer.from(set).toString('base64');
}

const profilesWithoutChroma = new Set([66, 77, 88]);
const orderWithCycle = 1;
const ownRatio = 255;

function readH264(reader: BitReader): number[] | null {
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
  unsigned();
  const order = unsigned();
  if (order === orderWithCycle) return null;
  if (order === 0) unsigned();
  unsigned();
  flag();
  const size = [unsigned(), unsigned()];
  const hasFramesOnly = bits(1);
  if (hasFramesOnly === 0) flag();
  flag();
  const window = readWindow(reader);
  const ratio = flag() && flag() ? bits(8) : 0;
  return [...size, hasFramesOnly, ...window, ratio, ...(ratio === ownRatio ? [bits(32)] : [])];
}

function readH265(reader: BitReader): number[] {
  const { bits, unsigned } = reader;
  bits(4);
  const layers = bits(3);
  bits(1);
  for (let word = 0; word < 3; word += 1) bits(32);
  const present = Array.from({ length: layers === 0 ? 0 : 8 }, () => [bits(1), bits(1)] as const);
  for (const [hasProfile, hasLevel] of present) bits(88 * hasProfile + 8 * hasLevel);
  unsigned();
  skipChroma(reader);
  return [unsigned(), unsigned(), ...readWindow(reader)];
}

function skipChroma({ unsigned, flag }: BitReader): void {
  const separable = 3;
  if (unsigned() === separable) flag();
}

function readWindow({ flag, unsigned }: BitReader): number[] {
  return flag() ? Array.from({ length: 4 }, () => unsigned()) : [];
}

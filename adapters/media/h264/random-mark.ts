import { randomInt } from 'node:crypto';
import { thumbnail } from '../../../core/records/capture.ts';
import { createBitWriter } from './bits.ts';

/** Rounding of the scaling filter, in levels of brightness. */
const tolerance = 2;

/**
 * Creates a picture of 32 × 32 pixels in four random colors, which nobody can guess. Its macroblocks hold plain samples
 * (I_PCM), so that no encoder is needed.
 */
export function createMark() {
  const colors = [0, 1, 2, 3].map(() => [level(), level(), level()] as const);
  return {
    /** Coded key frame in Annex B format, with its parameter sets. */
    bytes: Buffer.concat([sps(), pps(), slice(colors)]),
    /** Returns true if a thumbnail shows the mark. */
    isShownBy: (picture: Uint8Array) =>
      colors.every((color, index) =>
        color.every((expected, plane) => Math.abs(readCenter(picture, index, plane) - expected) <= tolerance),
      ),
  };
}

function level(): number {
  return randomInt(16, 236);
}

/** Reads the center of a quarter in one plane of a planar 4:2:0 picture. */
function readCenter(picture: Uint8Array, quarter: number, plane: number): number {
  const size = thumbnail.width * thumbnail.height;
  const [start, scale] = plane === 0 ? [0, 1] : [size + ((plane - 1) * size) / 4, 2];
  const [width, height] = [thumbnail.width / scale, thumbnail.height / scale];
  const column = Math.floor(width * (quarter % 2 === 0 ? 0.25 : 0.75));
  const row = Math.floor(height * (quarter < 2 ? 0.25 : 0.75));
  return picture[start + row * width + column] ?? 0;
}

/** Writes a Constrained Baseline SPS of 2 × 2 macroblocks without reordering, whose decoder needs no later picture. */
function sps(): Buffer {
  const writer = createBitWriter().bits(66, 8).bits(0xc0, 8).bits(10, 8);
  // Id, frame number of 4 bits, order as in the stream, one reference, no gaps, 2 × 2 macroblocks, frames only.
  writer.unsigned(0).unsigned(0).unsigned(2).unsigned(1).bits(0, 1).unsigned(1).unsigned(1).bits(0b11, 2);
  // No cropping. Usability information with a bitstream restriction only: no reordering, one buffered frame.
  writer.bits(0, 1).bits(1, 1).bits(0, 8).bits(0b11, 2);
  writer.unsigned(0).unsigned(0).unsigned(10).unsigned(10).unsigned(0).unsigned(1);
  return writer.end(0x67);
}

function pps(): Buffer {
  const writer = createBitWriter().unsigned(0).unsigned(0).bits(0, 2);
  // One slice group, one reference per list, no weights, three zero offsets, control of the deblocking filter.
  writer.unsigned(0).unsigned(0).unsigned(0).bits(0, 3).unsigned(0).unsigned(0).unsigned(0);
  return writer.bits(0b100, 3).end(0x68);
}

const pcmMacroblock = 25;

function slice(colors: (readonly [number, number, number])[]): Buffer {
  // First macroblock, I slices only, PPS, frame number, IDR id, two flags of references, no change of the quantizer, no
  // deblocking.
  const writer = createBitWriter().unsigned(0).unsigned(7).unsigned(0).bits(0, 4).unsigned(0).bits(0, 2);
  writer.unsigned(0).unsigned(1);
  for (const [luma, blue, red] of colors) {
    const samples = Buffer.concat([Buffer.alloc(256, luma), Buffer.alloc(64, blue), Buffer.alloc(64, red)]);
    writer.unsigned(pcmMacroblock).bytes(samples);
  }
  return writer.end(0x65);
}

import { expect, test } from 'vitest';
import { createBitWriter } from '../../../adapters/media/h264/bits.ts';
import { codedSize } from '../../../adapters/media/h264/coded-size.ts';
import { h264Units, h265Units } from '../../../adapters/media/h264/entry-point.ts';

type Fields = {
  level?: number;
  width?: number;
  height?: number;
  /** Cropping at the lower edge. */
  window?: number;
  /** Code of the ratio of pixels, or both sides. */
  ratio?: number | readonly [number, number];
};

/** Writes an SPS of H.264 without its start code. */
function writeH264({ level = 30, width = 20, height = 12, window, ratio }: Fields): Uint8Array {
  const writer = createBitWriter().bits(66, 8).bits(0, 8).bits(level, 8).unsigned(0);
  // Frame numbers, order of pictures, reference frames, gaps.
  writer.unsigned(0).unsigned(2).unsigned(1).bits(0, 1);
  writer.unsigned(width - 1).unsigned(height - 1);
  writer.bits(1, 1).bits(1, 1);
  writer.bits(window === undefined ? 0 : 1, 1);
  if (window !== undefined) for (const edge of [0, 0, 0, window]) writer.unsigned(edge);
  writer.bits(ratio === undefined ? 0 : 1, 1);
  if (typeof ratio === 'number') writer.bits(1, 1).bits(ratio, 8);
  else if (ratio) writer.bits(1, 1).bits(255, 8).bits(ratio[0], 16).bits(ratio[1], 16);
  return writer.end(0x67).subarray(4);
}

/** Writes an SPS of H.265 with sub-layers, of which the first has a profile and a level. */
function writeH265({
  level = 90,
  width = 320,
  height = 180,
  window,
  layers = 0,
}: Fields & { layers?: number }) {
  const writer = createBitWriter().bits(1, 8).bits(0, 4).bits(layers, 3).bits(1, 1);
  writer.bits(1, 8).bits(0, 32).bits(0, 32).bits(0, 16).bits(level, 8);
  if (layers > 0) {
    writer.bits(0b11, 2).bits(0, 14);
    writer.bits(0, 32).bits(0, 32).bits(0, 24).bits(level, 8);
  }
  writer.unsigned(0).unsigned(1).unsigned(width).unsigned(height);
  writer.bits(window === undefined ? 0 : 1, 1);
  if (window !== undefined) for (const edge of [0, 0, 0, window]) writer.unsigned(edge);
  // Depths, order of pictures, memory of the highest layer, blocks of 8 to 64 pixels.
  for (const value of [0, 0, 4]) writer.unsigned(value);
  writer.bits(0, 1);
  for (const value of [0, 0, 0, 0, 3]) writer.unsigned(value);
  return writer.end(0x42).subarray(4);
}

const h264 = (fields: Fields) => codedSize(writeH264(fields), h264Units);
const h265 = (fields: Fields & { layers?: number }) => codedSize(writeH265(fields), h265Units);

test('another level is the same size', () => {
  expect(h264({ level: 41 })).toBe(h264({}));
  expect(h265({ level: 120 })).toBe(h265({}));
  expect(h265({ level: 120, layers: 1 })).toBe(h265({}));
});

test.each<Fields>([{ width: 40 }, { height: 24 }, { window: 4 }])(
  'an SPS with %j has another size',
  (fields) => {
    expect(h264(fields)).not.toBe(h264({}));
    expect(h265(fields)).not.toBe(h265({}));
    expect(h265({ ...fields, layers: 1 })).not.toBe(h265({ layers: 1 }));
  },
);

test('another ratio of pixels of H.264 is another size', () => {
  const sizes = [undefined, 1, 2, [4, 3], [16, 11]].map((ratio) => h264({ ratio } as Fields));
  expect(new Set(sizes).size).toBe(sizes.length);
});

test.each([writeH264({}).subarray(0, 5), Uint8Array.of(0x67, 255, 255, 255, 255, 255, 255)])(
  'an SPS that cannot be read is equal to itself only (%j)',
  (damaged) => {
    expect(codedSize(damaged, h264Units)).toBe(Buffer.from(damaged).toString('base64'));
  },
);

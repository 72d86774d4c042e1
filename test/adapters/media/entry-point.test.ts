import { assert, property, uint8Array } from 'fast-check';
import { expect, test } from 'vitest';
import { createEntryPointReader, h264Units, h265Units } from '../../../adapters/media/h264/entry-point.ts';

const rules = { H264: h264Units, H265: h265Units };

function begin(codec: 'H264' | 'H265', ...units: number[][]) {
  const reader = createEntryPointReader(rules[codec]);
  for (const unit of units) reader.note(Uint8Array.from(unit));
  return reader.entryPoint()?.recoveryFrames ?? null;
}

/** H.264: pictures that refer to others, and that do not; recovery after 0 and 18 frames. */
const [predicted, intra] = [
  [0x41, 0xe0],
  [0x41, 0xb8],
];
const [atOnce, after18] = [
  [0x06, 6, 1, 0x84, 0x80],
  [0x06, 6, 2, 0x09, 0xc4, 0x80],
];
const text = [5, 255, 45, ...Array.from({ length: 300 }, () => 7)];

test.each<[string, number | null, number[][]]>([
  [
    'at an IDR picture',
    0,
    [
      [0x67, 1],
      [0x65, 0x88],
    ],
  ],
  ['at no other picture without information', null, [intra]],
  ['at the I picture of an open group', 0, [atOnce, intra]],
  ['at no picture that refers to others, whatever its information says', null, [atOnce, predicted]],
  ['at no picture with one slice that refers to others', null, [atOnce, intra, predicted]],
  ['18 frames before the picture of an intra refresh is whole', 18, [after18, predicted]],
  ['at a recovery point after other information', 18, [[0x06, ...text, ...after18.slice(1)], predicted]],
  ['at no recovery point without a picture', null, [after18]],
  // 700 frames.
  ['at no refresh that takes too long', null, [[0x06, 6, 3, 0x00, 0x57, 0xa0, 0x80], predicted]],
  ['at no recovery point that ends early', null, [[0x06, 6, 2], predicted]],
])('decoding of H.264 begins %s', (_place, frames, units) => {
  expect(begin('H264', ...units)).toBe(frames);
});

test.each<[string, number | null, number[][]]>([
  ['at a CRA picture', 0, [[0x2a, 1, 0xa0]]],
  ['at no picture with references', null, [[0x02, 1, 0xd0]]],
  [
    'before the picture of a refresh is whole',
    9,
    [
      [0x4e, 1, 6, 2, 0x09, 0x40, 0x80],
      [0x02, 1, 0xd0],
    ],
  ],
])('decoding of H.265 begins %s', (_place, frames, units) => {
  expect(begin('H265', ...units)).toBe(frames);
});

test('bytes that prevent start codes are no part of the information', () => {
  expect(begin('H264', [0x06, 1, 2, 0, 0, 3, 6, 1, 0x84], intra)).toBe(0);
});

test('information of any bytes causes no error', () => {
  assert(
    property(uint8Array({ maxLength: 40 }), (noise) => {
      for (const codec of ['H264', 'H265'] as const)
        begin(codec, [0x06, ...noise], [0x4e, 1, ...noise], [...noise], predicted);
    }),
  );
});

import { expect, test } from 'vitest';
import { assemble, at, idr, keyFrame, slice } from './assemble.ts';

test('a marked access unit before a lost packet is whole, and those after it wait for a key frame', () => {
  const packets = [
    at(1, idr, { sequence: 1 }),
    at(2, slice, { sequence: 2, isMarked: true }),
    at(4, slice, { sequence: 5 }),
    at(5, slice, { sequence: 6 }),
    at(6, idr, { sequence: 7 }),
    at(7, slice, { sequence: 8 }),
  ];
  expect(assemble(packets)).toEqual([keyFrame, '419a', keyFrame]);
  packets[1]!.isMarked = false;
  expect(assemble(packets)).toEqual([keyFrame, keyFrame]);
});

test('the mark of a camera that sets it in each packet ends no access unit', () => {
  const packets = [
    at(1, idr, { sequence: 1 }),
    at(1, [0x65, 0x40], { sequence: 2 }),
    at(2, slice, { sequence: 3 }),
    at(3, slice, { sequence: 5 }),
    at(4, slice, { sequence: 6 }),
  ].map((packet) => ({ ...packet, isMarked: true }));
  expect(assemble(packets)).toEqual([`${keyFrame} 6540`]);
});

test.each([
  ['slices', [idr, [0x65, 0x40]], `${keyFrame} 6540`],
  [
    'fragments',
    [
      [0x7c, 0x85, 0x88, 5],
      [0x7c, 0x05, 6],
      [0x7c, 0x45, 7],
    ],
    'K 6701 6802 6588050607',
  ],
  [
    'slices in fragments that are marked at their ends',
    [
      [0x7c, 0x85, 0x88],
      [0x7c, 0x45, 7],
      [0x7c, 0x85, 0x40],
      [0x7c, 0x45, 7],
    ],
    'K 6701 6802 658807 654007',
  ],
])('packets of a marked picture with a timestamp each are one access unit: %s', (form, picture, unit) => {
  const packets = Array.from({ length: 6 }, () => picture).flat();
  const sent = packets.map((payload, index) =>
    at(index, payload, { isMarked: !form.includes('ends') || payload[1] === 0x45 }),
  );
  expect(assemble(sent)).toEqual(Array.from({ length: 5 }, () => unit));
});

import { expect, test } from 'vitest';
import { largestRegions } from '../../../../adapters/vision/pixel/measure-picture.ts';

/** Classes of an image, one digit per pixel. */
function findRegions(...rows: string[]): number[] {
  const classes = Uint8Array.from(rows.join(''), Number);
  return [...largestRegions(classes, rows[0]!.length, 3)];
}

test('a block counts with its edge, except its corners', () => {
  const rows = ['000000', '011110', '011110', '011110', '011110', '000000'];
  expect(findRegions(...rows)[1]).toBe(12);
});

test('a line of two pixels between two areas is not a region', () => {
  const row = '0000220011';
  expect(findRegions(row, row, row, row, row, row)[2]).toBe(0);
});

test('the largest of several regions counts, and regions do not wrap around the sides', () => {
  const row = '11100000111111';
  expect(findRegions(row, row, row)[1]).toBe(18);
});

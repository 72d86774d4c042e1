import { expect, test } from 'vitest';
import { largestRegions } from '../../../../adapters/vision/pixel/regions.ts';

/** One digit a pixel: its class. */
function regionsOf(...rows: string[]): number[] {
  const classes = Uint8Array.from(rows.join(''), Number);
  return [...largestRegions(classes, rows[0]!.length, 3)];
}

test('a block counts with its edge, but for its corners', () => {
  const rows = ['000000', '011110', '011110', '011110', '011110', '000000'];
  expect(regionsOf(...rows)[1]).toBe(12);
});

test('a line of two pixels between two areas is no region', () => {
  const row = '0000220011';
  expect(regionsOf(row, row, row, row, row, row)[2]).toBe(0);
});

test('the largest of several regions counts, and regions do not join around the sides', () => {
  const row = '11100000111111';
  expect(regionsOf(row, row, row)[1]).toBe(18);
});

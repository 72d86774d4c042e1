import { expect, test } from 'vitest';
import type { Region } from '../../../core/records/capture.ts';
import { createRegionMask, isWatched } from '../../../core/records/region.ts';

const box = (mode: Region['mode'], x1: number, y1: number, x2: number, y2: number): Region => ({
  mode,
  points: [
    [x1, y1],
    [x2, y1],
    [x2, y2],
    [x1, y2],
  ],
});
const left = box('include', 0, 0, 0.5, 1);
const center = box('exclude', 0.4, 0.4, 0.6, 0.6);

test.each([
  ['an included region', [left], 0.2, 0.5, true],
  ['the outside of an included region', [left], 0.7, 0.5, false],
  ['an excluded region', [center], 0.5, 0.5, false],
  ['the outside of an excluded region', [center], 0.1, 0.5, true],
  ['an excluded part of an included region', [left, center], 0.45, 0.5, false],
  ['one of two included regions', [left, box('include', 0.8, 0, 1, 1)], 0.9, 0.5, true],
] as const)('a point in %s is watched: %#', (_, regions, x, y, expected) => {
  expect(isWatched(regions, x, y)).toBe(expected);
});

test('a polygon with a notch has no point in its notch', () => {
  const notched: Region = {
    mode: 'include',
    points: [
      [0, 0],
      [1, 0],
      [1, 1],
      [0.5, 0.2],
      [0, 1],
    ],
  };
  expect([isWatched([notched], 0.5, 0.8), isWatched([notched], 0.05, 0.8)]).toEqual([false, true]);
});

test('a mask has one cell per pixel, by rows', () => {
  expect([...createRegionMask([left], 4, 2)]).toEqual([1, 1, 0, 0, 1, 1, 0, 0]);
});

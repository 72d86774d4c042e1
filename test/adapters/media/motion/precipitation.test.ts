import { expect, test } from 'vitest';
import {
  componentWeights,
  minMotionArea,
  updateFlakeArea,
} from '../../../../adapters/media/motion/compare-motion.ts';
import { fullWeight } from '../../../../adapters/media/motion/threshold.ts';
import { motionTuning } from '../../../../adapters/media/motion/tuning.ts';

const createFlakes = (area: number) => Array.from({ length: 30 }, () => area * fullWeight);

test('the flake area is learned after a few frames and forgotten after the snow', () => {
  const inSnow = [1, 2, 3, 4].reduce((area) => updateFlakeArea(area, createFlakes(10)), 0);
  expect(minMotionArea(inSnow, motionTuning)).toBeGreaterThan(10);
  const after = Array.from({ length: 12 }).reduce<number>((area) => updateFlakeArea(area, []), inSnow);
  expect(minMotionArea(after, motionTuning)).toBe(motionTuning.minArea);
});

test('five objects that move constantly are not precipitation', () => {
  const five = createFlakes(10).slice(0, 5);
  expect(updateFlakeArea(0, five)).toBe(0);
});

test('an object larger than any flake always counts', () => {
  expect(minMotionArea(255, motionTuning)).toBe(motionTuning.maxArea);
});

test('adjacent pixels, also diagonal ones, form one component; opposite borders do not', () => {
  const rows = [
    [16, 0, 0, 0, 4],
    [0, 16, 0, 0, 0],
    [0, 0, 8, 0, 0],
    [0, 0, 0, 0, 3],
    [2, 0, 0, 0, 0],
  ];
  const weights = Uint8Array.from(rows.flat());
  expect(componentWeights(weights, 5)).toEqual([40, 4, 3, 2]);
});

import { expect, test } from 'vitest';
import { classifyColor } from '../../../../adapters/vision/pixel/colors.ts';

test.each([
  [255, 0, 0, 'red'],
  [139, 0, 0, 'red'],
  [255, 72, 72, 'red'],
  [255, 165, 0, 'orange'],
  [255, 255, 0, 'yellow'],
  [255, 215, 0, 'yellow'],
  [0, 128, 0, 'green'],
  [0, 255, 0, 'green'],
  [64, 224, 208, 'cyan'],
  [0, 128, 128, 'cyan'],
  [0, 0, 255, 'blue'],
  [0, 0, 128, 'blue'],
  [135, 206, 235, 'blue'],
  [128, 0, 128, 'purple'],
  [255, 0, 255, 'purple'],
  [238, 130, 238, 'purple'],
  [255, 192, 203, 'pink'],
  [255, 105, 180, 'pink'],
  [139, 69, 19, 'brown'],
  [255, 255, 255, 'white'],
  [220, 220, 215, 'white'],
  [128, 128, 128, 'grey'],
  [90, 100, 95, 'grey'],
  [0, 0, 0, 'black'],
  [20, 22, 30, 'black'],
])('the color of RGB %i %i %i is %s', (red, green, blue, color) => {
  expect(classifyColor(red, green, blue)).toBe(color);
});

import { colorIndex } from '../pixel/color-table.ts';
import { type Color, colors } from '../pixel/colors.ts';
import type { Box, Picture } from './detector.ts';

/** Part of a box that is compared, around its center: the rest is mostly background. */
const innerShare = 0.6;
/** Minimum share of the inner part that has the color. */
const minColorShare = 0.25;

/** Returns true if a box has one of the colors. */
export function hasColor(picture: Picture, box: Box, wanted: readonly Color[]): boolean {
  const shares = measureColors(picture, box);
  return wanted.some((color) => {
    // Sunlight and paint make more than half of a red car pink.
    const alike = color === 'red' ? shares.red + shares.pink : shares[color];
    return alike >= minColorShare;
  });
}

/** Returns the colors that a box mostly has, the largest share first. */
export function mainBoxColors(picture: Picture, box: Box): Color[] {
  const shares = measureColors(picture, box);
  return colors.filter((color) => shares[color] >= minColorShare).toSorted((a, b) => shares[b] - shares[a]);
}

function measureColors({ width, height, rgb }: Picture, box: Box): Record<Color, number> {
  const margin = (1 - innerShare) / 2;
  const left = Math.floor((box.x + box.width * margin) * width);
  const top = Math.floor((box.y + box.height * margin) * height);
  const right = Math.max(Math.ceil((box.x + box.width * (1 - margin)) * width), left + 1);
  const bottom = Math.max(Math.ceil((box.y + box.height * (1 - margin)) * height), top + 1);
  const counts = new Uint32Array(colors.length);
  for (let y = top; y < Math.min(bottom, height); y += 1) {
    for (let x = left; x < Math.min(right, width); x += 1) {
      const at = (y * width + x) * 3;
      const color = colorIndex(rgb[at] ?? 0, rgb[at + 1] ?? 0, rgb[at + 2] ?? 0);
      counts[color] = (counts[color] ?? 0) + 1;
    }
  }
  const total = counts.reduce((sum, count) => sum + count, 0) || 1;
  const toShare = (color: Color) => (counts[colors.indexOf(color)] ?? 0) / total;
  return {
    red: toShare('red'),
    orange: toShare('orange'),
    yellow: toShare('yellow'),
    green: toShare('green'),
    cyan: toShare('cyan'),
    blue: toShare('blue'),
    purple: toShare('purple'),
    pink: toShare('pink'),
    brown: toShare('brown'),
    white: toShare('white'),
    grey: toShare('grey'),
    black: toShare('black'),
  };
}

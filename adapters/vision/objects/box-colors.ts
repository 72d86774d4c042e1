import { colorIndex } from '../pixel/measure-picture.ts';
import { type Color, colors } from '../pixel/colors.ts';
import type { ObjectClass } from './classes.ts';
import type { Box, Picture } from './detector.ts';

/** Part of a box that is compared, in shares of the box: the rest is mostly background. */
const inner: Box = { x: 0.2, y: 0.2, width: 0.6, height: 0.6 };
/** Parts of the box of a person that clothes cover: all of the body, its upper and its lower half. */
const clothed: readonly Box[] = [
  inner,
  { x: 0.25, y: 0.15, width: 0.5, height: 0.4 },
  { x: 0.25, y: 0.5, width: 0.5, height: 0.45 },
];
/** Minimum share of the part that has the color. */
const minColorShare = 0.25;
/** Minimum share of the color itself where light and shade turn the rest of it into another. */
const minOwnShare = 0.1;
/**
 * Colors that the same cloth or paint has in light and in shade. Fluorescent orange is partly red, in shade brown;
 * fluorescent yellow is partly green.
 */
const shades: Partial<Record<Color, readonly Color[]>> = {
  red: ['pink'],
  orange: ['red', 'brown'],
  yellow: ['green'],
};

/** Returns true if a box has one of the colors. The color of a person is one of clothes. */
export function hasColor(
  picture: Picture,
  { object, box }: { object: ObjectClass; box: Box },
  wanted: readonly Color[],
): boolean {
  const isPerson = object === 'person';
  return (isPerson ? clothed : [inner]).some((part) => {
    const { shares, orangeRed } = measureColors(picture, box, part);
    return wanted.some((color) => {
      const ownShare = shares[color] + (color === 'orange' ? orangeRed : 0);
      const isShaded = color === 'red' || (isPerson && ownShare >= minOwnShare);
      const alike = isShaded ? (shades[color] ?? []) : [];
      return alike.reduce((sum, shade) => sum + shares[shade], shares[color]) >= minColorShare;
    });
  });
}

/** Returns the colors that a box mostly has, the largest share first. */
export function mainBoxColors(picture: Picture, box: Box): Color[] {
  const { shares } = measureColors(picture, box, inner);
  return colors.filter((color) => shares[color] >= minColorShare).toSorted((a, b) => shares[b] - shares[a]);
}

const red = colors.indexOf('red');

/** Returns true for the red of a fluorescent orange vest, of a hue of 8° or more. */
function isOrangeRed(redLevel: number, green: number, blue: number): boolean {
  return redLevel > 150 && (green - blue) * 60 >= (redLevel - blue) * 8;
}

/** Returns the share of each color, and that of the red that is nearly orange. */
function measureColors(
  { width, height, rgb }: Picture,
  box: Box,
  part: Box,
): { shares: Record<Color, number>; orangeRed: number } {
  const left = Math.floor((box.x + box.width * part.x) * width);
  const top = Math.floor((box.y + box.height * part.y) * height);
  const right = Math.max(Math.ceil((box.x + box.width * (part.x + part.width)) * width), left + 1);
  const bottom = Math.max(Math.ceil((box.y + box.height * (part.y + part.height)) * height), top + 1);
  const counts = new Uint32Array(colors.length);
  let orangeReds = 0;
  for (let y = top; y < Math.min(bottom, height); y += 1) {
    for (let x = left; x < Math.min(right, width); x += 1) {
      const offset = (y * width + x) * 3;
      const levels = [rgb[offset] ?? 0, rgb[offset + 1] ?? 0, rgb[offset + 2] ?? 0] as const;
      const color = colorIndex(...levels);
      if (color === red && isOrangeRed(...levels)) orangeReds += 1;
      counts[color] = (counts[color] ?? 0) + 1;
    }
  }
  const total = counts.reduce((sum, count) => sum + count, 0) || 1;
  const toShare = (color: Color) => (counts[colors.indexOf(color)] ?? 0) / total;
  const shares = {
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
  return { shares, orangeRed: orangeReds / total };
}

import { type Color, colors, classifyColor } from './colors.ts';
import type { PictureSize } from './image-decoder.ts';
import { largestRegions } from './regions.ts';

/** Bits per channel in the lookup table, which is ten times as fast as a classification per pixel. */
const bits = 5;
const step = 1 << (8 - bits);

const table = new Uint8Array(1 << (3 * bits)).map((_, index) => {
  const channel = (shift: number) => ((index >> shift) & ((1 << bits) - 1)) * step + step / 2;
  return colors.indexOf(classifyColor(channel(2 * bits), channel(bits), channel(0)));
});

/** Returns the index of an RGB pixel's color in `colours`. */
export function colorIndex(red: number, green: number, blue: number): number {
  return table[((red >> 3) << 10) | ((green >> 3) << 5) | (blue >> 3)] ?? 0;
}

/** Measurements of one frame; shares are 0 to 1. */
export type PictureFacts = {
  /** Share of the frame by color. The shares add up to 1. */
  shares: Record<Color, number>;
  /** Largest connected region of each color, as a share of the frame. */
  regions: Record<Color, number>;
  /** Mean luma. */
  brightness: number;
  /** Standard deviation of luma: 0 in a frame of a single tone. */
  contrast: number;
};

/**
 * Measurements of pictures that are in use. Jobs that share a capture receive its decoded picture as the same array.
 */
const measured = new WeakMap<Uint8Array, PictureFacts>();

/** Measures a frame in packed RGB, three bytes per pixel. The frame must not be changed afterwards. */
export function measurePicture(rgb: Uint8Array, size: PictureSize): PictureFacts {
  const before = measured.get(rgb);
  if (before !== undefined) return before;
  const facts = computeFacts(rgb, size);
  measured.set(rgb, facts);
  return facts;
}

function computeFacts(rgb: Uint8Array, { width, height }: PictureSize): PictureFacts {
  const pixels = width * height;
  const classes = new Uint8Array(pixels);
  const counts = new Uint32Array(colors.length);
  let sum = 0;
  let sumOfSquares = 0;
  for (let index = 0; index < pixels; index += 1) {
    const red = rgb[index * 3] ?? 0;
    const green = rgb[index * 3 + 1] ?? 0;
    const blue = rgb[index * 3 + 2] ?? 0;
    const color = colorIndex(red, green, blue);
    classes[index] = color;
    counts[color] = (counts[color] ?? 0) + 1;
    const luma = computeLuma(red, green, blue);
    sum += luma;
    sumOfSquares += luma * luma;
  }
  const brightness = sum / pixels;
  const regions = largestRegions(classes, width, colors.length);
  return {
    shares: byColor((index) => (counts[index] ?? 0) / pixels),
    regions: byColor((index) => (regions[index] ?? 0) / pixels),
    brightness,
    contrast: Math.sqrt(Math.max(sumOfSquares / pixels - brightness * brightness, 0)),
  };
}

/** Returns the luma of BT.601, 0 to 1. */
export function computeLuma(red: number, green: number, blue: number): number {
  return (0.299 * red + 0.587 * green + 0.114 * blue) / 255;
}

function byColor(measure: (index: number) => number): Record<Color, number> {
  const of = (color: Color) => measure(colors.indexOf(color));
  return {
    red: of('red'),
    orange: of('orange'),
    yellow: of('yellow'),
    green: of('green'),
    cyan: of('cyan'),
    blue: of('blue'),
    purple: of('purple'),
    pink: of('pink'),
    brown: of('brown'),
    white: of('white'),
    grey: of('grey'),
    black: of('black'),
  };
}

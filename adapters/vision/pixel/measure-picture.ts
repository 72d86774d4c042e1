import { type Color, colors, classifyColor } from './colors.ts';
import type { PictureSize } from './image-decoder.ts';

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
  const measureColor = (color: Color) => measure(colors.indexOf(color));
  return {
    red: measureColor('red'),
    orange: measureColor('orange'),
    yellow: measureColor('yellow'),
    green: measureColor('green'),
    cyan: measureColor('cyan'),
    blue: measureColor('blue'),
    purple: measureColor('purple'),
    pink: measureColor('pink'),
    brown: measureColor('brown'),
    white: measureColor('white'),
    grey: measureColor('grey'),
    black: measureColor('black'),
  };
}

/**
 * Counts the pixels in the largest connected region of each class. Only parts at least three pixels thick count:
 * where two colors meet, subsampled chroma produces a thin line of a third one.
 */
export function largestRegions(classes: Uint8Array, width: number, classCount: number): Uint32Array {
  const thick = opened(classes, width);
  const runs = createRuns();
  let [above, row] = [0, 0];
  for (let begin = 0; begin < thick.length; begin += width) {
    for (let start = begin; start < begin + width;) {
      const kind = thick[start] ?? none;
      const end = findEnd(thick, start, begin + width);
      if (kind !== none) runs.add(kind, start, end);
      start = end;
    }
    if (begin > 0) runs.joinRows(above, row, width);
    above = row;
    row = runs.count();
  }
  return runs.largest(classCount);
}

const none = 255;

function findEnd(kinds: Uint8Array, start: number, limit: number): number {
  const kind = kinds[start];
  let end = start + 1;
  while (end < limit && kinds[end] === kind) end += 1;
  return end;
}

/** Creates a list of runs: neighbors of one class in a row. A region is a tree of runs, whose root has its size. */
function createRuns() {
  const kinds: number[] = [];
  const starts: number[] = [];
  const ends: number[] = [];
  const parents: number[] = [];
  const sizes: number[] = [];

  return { count: () => kinds.length, add, joinRows, largest };

  function add(kind: number, start: number, end: number): void {
    parents.push(kinds.length);
    kinds.push(kind);
    starts.push(start);
    ends.push(end);
    sizes.push(end - start);
  }

  /** Joins the runs from `below` on with those from `above` on that touch them. */
  function joinRows(above: number, below: number, width: number): void {
    let upper = above;
    for (let lower = below; lower < kinds.length; lower += 1) {
      const [start, end] = [(starts[lower] ?? 0) - width, (ends[lower] ?? 0) - width];
      while (upper < below && (starts[upper] ?? 0) < end) {
        if (kinds[upper] === kinds[lower] && (ends[upper] ?? 0) > start) join(upper, lower);
        if ((ends[upper] ?? 0) > end) break;
        upper += 1;
      }
    }
  }

  function join(one: number, other: number): void {
    const [root, joined] = [findRoot(one), findRoot(other)];
    if (root === joined) return;
    parents[joined] = root;
    sizes[root] = (sizes[root] ?? 0) + (sizes[joined] ?? 0);
  }

  function findRoot(run: number): number {
    let root = run;
    for (let parent = parents[root] ?? root; parent !== root; parent = parents[root] ?? root) {
      // Halves the way for the next search.
      parents[root] = parents[parent] ?? parent;
      root = parent;
    }
    return root;
  }

  function largest(classCount: number): Uint32Array {
    const result = new Uint32Array(classCount);
    for (const [run, kind] of kinds.entries()) result[kind] = Math.max(result[kind] ?? 0, sizes[run] ?? 0);
    return result;
  }
}

/**
 * Keeps a pixel if it, or a direct neighbor, has its own class on all four sides. The frame border counts as such.
 */
function opened(classes: Uint8Array, width: number): Uint8Array {
  const kept = new Uint8Array(classes.length).fill(none);
  for (let begin = 0; begin < classes.length; begin += width) {
    const [up, down] = [begin === 0 ? 0 : width, begin + width < classes.length ? width : 0];
    for (let index = begin, last = begin + width - 1; index <= last; index += 1) {
      const kind = classes[index] ?? none;
      const left = index === begin ? index : index - 1;
      const right = index === last ? index : index + 1;
      if (classes[left] !== kind || classes[right] !== kind) continue;
      if (classes[index - up] !== kind || classes[index + down] !== kind) continue;
      kept[index] = kind;
      kept[left] = kind;
      kept[right] = kind;
      kept[index - up] = kind;
      kept[index + down] = kind;
    }
  }
  return kept;
}

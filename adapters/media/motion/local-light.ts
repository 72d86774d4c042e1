import { binOf, noDifferences, takeMedian } from './differences.ts';
import type { Plane } from './planes.ts';

/**
 * What light did beyond the global fit (the shade of a cloud, a lamp, bands of mains flicker), for each pixel: so many 512ths of
 * what light there was.
 */
export type LocalLight = Int16Array;
export const lightUnit = 512;

/** Light multiplies: how much of it there is at each level of a plane, index 0 to 255. Colours shift alike at all levels. */
export const lightOfLuma = Uint8Array.from({ length: 256 }, (_, level) => Math.max(level - 16, 0));
export const lightOfColour = new Uint8Array(256).fill(128);

/** How much may be light, as a share of what there is. What exceeds it is a thing. */
export type LightLimits = { band: number; shade: number };

const columns = 8;
const rows = 5;
/** Bands are smooth: each row is the mean of so many above and below. */
const bandReach = 2;
/** Where there is less light, a level up or down says nothing. */
const leastLight = 12;

/** `expected` is what each level of the reference should be in the light of now. Reference and current are luma, or the same colour. */
export function localLight(
  reference: Plane,
  current: Plane,
  expected: Int16Array,
  lightAt: Uint8Array,
  limits: LightLimits,
): LocalLight {
  const relative = relativeChanges(reference.samples, current.samples, expected, lightAt);
  const bands = bandLight(relative, reference, limits.band * lightUnit);
  const shades = shadeLight(relative, reference, bands, limits.shade * lightUnit);
  return spread(bands, shades, current.width);
}

const unknown = -32_768;

/** Of a chequerboard of pixels: how much lighter each is than expected, in units of its light. */
function relativeChanges(
  reference: Uint8Array,
  current: Uint8Array,
  expected: Int16Array,
  lightAt: Uint8Array,
): Int16Array {
  const inverse = Int32Array.from(lightAt, (light) => (light < leastLight ? 0 : (lightUnit << 8) / light));
  const changes = new Int16Array(reference.length >> 1);
  for (let pair = 0; pair < changes.length; pair += 1) {
    const at = pair << 1;
    const before = reference[at] ?? 0;
    const factor = inverse[before] ?? 0;
    const more = (current[at] ?? 0) - (expected[before] ?? 0);
    changes[pair] = factor === 0 ? unknown : (more * factor + 128) >> 8;
  }
  return changes;
}

/** The median of each row: something narrower than half the picture leaves no trace in it. */
function bandLight(relative: Int16Array, { width, height }: Plane, most: number): Int16Array {
  const bands = new Int16Array(height);
  if (most === 0) return bands;
  const medians = new Float32Array(height);
  const seen = noDifferences();
  const pairs = width >> 1;
  for (let y = 0; y < height; y += 1) {
    let count = 0;
    for (let at = y * pairs; at < (y + 1) * pairs; at += 1) {
      const change = relative[at] ?? 0;
      if (change === unknown) continue;
      const bin = binOf(change);
      seen[bin] = (seen[bin] ?? 0) + 1;
      count += 1;
    }
    medians[y] = limited(takeMedian(seen, count), most);
  }
  return bands.map((_, y) => Math.round(meanAround(medians, y)));
}

function meanAround(levels: Float32Array, at: number): number {
  const from = Math.max(at - bandReach, 0);
  const to = Math.min(at + bandReach, levels.length - 1);
  let total = 0;
  for (let near = from; near <= to; near += 1) total += levels[near] ?? 0;
  return total / (to - from + 1);
}

/** The same for the cells of a coarse grid: something smaller than half a cell leaves no trace in it. */
function shadeLight(
  relative: Int16Array,
  { width, height }: Plane,
  bands: Int16Array,
  most: number,
): Float32Array {
  const shades = new Float32Array(columns * rows);
  const seen = noDifferences();
  const [cellPairs, cellHeight] = [width / columns / 2, height / rows];
  for (let cell = 0; cell < shades.length; cell += 1) {
    const left = (cell % columns) * cellPairs;
    const top = Math.floor(cell / columns) * cellHeight;
    let count = 0;
    for (let y = top; y < top + cellHeight; y += 2) {
      const band = bands[y] ?? 0;
      const start = y * (width >> 1) + left;
      for (let at = start; at < start + cellPairs; at += 1) {
        const change = relative[at] ?? 0;
        if (change === unknown) continue;
        const bin = binOf(change - band);
        seen[bin] = (seen[bin] ?? 0) + 1;
        count += 1;
      }
    }
    shades[cell] = limited(takeMedian(seen, count), most);
  }
  return shades;
}

function limited(change: number, most: number): number {
  return Math.min(Math.max(change, -most), most);
}

/** Bands and grid brought to the size of a plane, the grid bilinear between the centres of its cells. */
function spread(bands: Int16Array, shades: Float32Array, width: number): LocalLight {
  const height = bands.length;
  const light = new Int16Array(width * height);
  const line = new Float32Array(columns + 2);
  const cellWidth = width / columns;
  for (let y = 0; y < height; y += 1) {
    fillLine(line, shades, (y + 0.5) * (rows / height) - 0.5, bands[y] ?? 0);
    let at = y * width;
    // From the border to the first centre, from centre to centre, and to the border again.
    for (let from = 0; from <= columns; from += 1) {
      const first = from === 0 ? cellWidth / 2 : 0;
      const last = from === columns ? cellWidth / 2 : cellWidth;
      const level = line[from] ?? 0;
      const slope = ((line[from + 1] ?? 0) - level) / cellWidth;
      for (let along = first; along < last; along += 1) {
        light[at] = level + slope * (along + 0.5);
        at += 1;
      }
    }
  }
  return light;
}

/** One row of the grid between two rows of cells; the outer cells are repeated. */
function fillLine(line: Float32Array, shades: Float32Array, place: number, band: number): void {
  const within = Math.min(Math.max(place, 0), rows - 1);
  const upper = Math.floor(within);
  const lower = Math.min(upper + 1, rows - 1);
  for (let at = 0; at < columns + 2; at += 1) {
    const column = Math.min(Math.max(at - 1, 0), columns - 1);
    const above = shades[upper * columns + column] ?? 0;
    const below = shades[lower * columns + column] ?? 0;
    line[at] = above + (below - above) * (within - upper) + band;
  }
}

import { histogramBin, emptyHistogram, drainMedian, type Plane } from './planes.ts';

/**
 * Local change of light per pixel, beyond the global fit (cloud shadow, lamp, bands of mains flicker), in 512ths of
 * the light at that pixel.
 */
export type LocalLight = Int16Array;
/** Units of a local change that equal the whole light of a pixel. */
export const lightUnit = 512;

/** Amount of light per luma level, index 0 to 255. Light scales luma, while chroma shifts equally at all levels. */
export const lightOfLuma = Uint8Array.from({ length: 256 }, (_, level) => Math.max(level - 16, 0));
/** Amount of light per chroma level, constant. */
export const lightOfColor = new Uint8Array(256).fill(128);

/** Maximum change that counts as light, as a share of the light of a pixel. A larger change counts as motion. */
export type LightLimits = { band: number; shade: number };

const columns = 8;
const rows = 5;
/** Bands are smooth: each row is averaged with this many rows above and below. */
const bandReach = 2;
/** Minimum light of a usable pixel. Below it, one level more or less is noise. */
const minLight = 12;

/**
 * Computes the local light. `expected` maps each reference level to its level in the current light. Both planes are
 * luma, or the same chroma.
 */
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

/** Returns the deviation from the expected level on a checkerboard of pixels, in units of their light. */
function relativeChanges(
  reference: Uint8Array,
  current: Uint8Array,
  expected: Int16Array,
  lightAt: Uint8Array,
): Int16Array {
  const inverse = Int32Array.from(lightAt, (light) => (light < minLight ? 0 : (lightUnit << 8) / light));
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

/** Computes the median of each row. An object narrower than half the image does not affect it. */
function bandLight(relative: Int16Array, { width, height }: Plane, max: number): Int16Array {
  const bands = new Int16Array(height);
  if (max === 0) return bands;
  const medians = new Float32Array(height);
  const seen = emptyHistogram();
  const pairs = width >> 1;
  for (let y = 0; y < height; y += 1) {
    let count = 0;
    for (let at = y * pairs; at < (y + 1) * pairs; at += 1) {
      const change = relative[at] ?? 0;
      if (change === unknown) continue;
      const bin = histogramBin(change);
      seen[bin] = (seen[bin] ?? 0) + 1;
      count += 1;
    }
    medians[y] = limited(drainMedian(seen, count), max);
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

/** Computes the median of each cell in a coarse grid. An object smaller than half a cell does not affect it. */
function shadeLight(
  relative: Int16Array,
  { width, height }: Plane,
  bands: Int16Array,
  max: number,
): Float32Array {
  const shades = new Float32Array(columns * rows);
  const seen = emptyHistogram();
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
        const bin = histogramBin(change - band);
        seen[bin] = (seen[bin] ?? 0) + 1;
        count += 1;
      }
    }
    shades[cell] = limited(drainMedian(seen, count), max);
  }
  return shades;
}

function limited(change: number, max: number): number {
  return Math.min(Math.max(change, -max), max);
}

/** Expands bands and grid to the size of a plane, bilinear between the cell centers. */
function spread(bands: Int16Array, shades: Float32Array, width: number): LocalLight {
  const height = bands.length;
  const light = new Int16Array(width * height);
  const line = new Float32Array(columns + 2);
  const cellWidth = width / columns;
  for (let y = 0; y < height; y += 1) {
    fillLine(line, shades, (y + 0.5) * (rows / height) - 0.5, bands[y] ?? 0);
    let at = y * width;
    // Segments: border to first center, center to center, last center to border.
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

/** Interpolates one row of the grid between two rows of cells. Outer cells are repeated. */
function fillLine(line: Float32Array, shades: Float32Array, position: number, band: number): void {
  const within = Math.min(Math.max(position, 0), rows - 1);
  const upper = Math.floor(within);
  const lower = Math.min(upper + 1, rows - 1);
  for (let at = 0; at < columns + 2; at += 1) {
    const column = Math.min(Math.max(at - 1, 0), columns - 1);
    const above = shades[upper * columns + column] ?? 0;
    const below = shades[lower * columns + column] ?? 0;
    line[at] = above + (below - above) * (within - upper) + band;
  }
}

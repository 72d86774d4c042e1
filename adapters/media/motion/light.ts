import { histogramBin, emptyHistogram, drainMedian, type Plane } from './planes.ts';

/** Global change of light between two thumbnails: current ≈ gain · reference + offset. */
export type Light = { gain: number; offset: number };

/**
 * Maximum change that counts as light. One stop of exposure is a gain of about 1.4 in gamma-coded video; the rest
 * of a larger change counts as motion.
 */
export type LightBounds = { gain: number; shift: number };
export const exposureBounds: LightBounds = { gain: 1.6, shift: 40 };
export const whiteBalanceBounds: LightBounds = { gain: 1.3, shift: 12 };

/** Sampling step in pixels, and number of fits after each of which outliers are dropped. */
const stride = 3;
const rounds = 3;

/**
 * Fits gain and offset by least squares over the pixels that agree with the previous fit, so that moving objects do
 * not distort it.
 */
export function fitLight(reference: Plane, current: Plane, bounds: LightBounds): Light {
  let light: Light = { gain: 1, offset: medianDifference(reference, current) };
  let tolerance = 24;
  for (let round = 0; round < rounds; round += 1) {
    light = leastSquares(reference.samples, current.samples, light, tolerance) ?? light;
    tolerance = Math.max(tolerance / 2, 6);
  }
  return bounded(light, bounds, mean(reference));
}

/** Returns the median level difference of two planes, over every third pixel. */
export function medianDifference(reference: Plane, current: Plane): number {
  const differences = emptyHistogram();
  let count = 0;
  for (let pixel = 0; pixel < reference.samples.length; pixel += stride) {
    const bin = histogramBin((current.samples[pixel] ?? 0) - (reference.samples[pixel] ?? 0));
    differences[bin] = (differences[bin] ?? 0) + 1;
    count += 1;
  }
  return drainMedian(differences, count);
}

/** Returns the expected current level for each reference level, rounded; index 0 to 255. */
export function levelsIn({ gain, offset }: Light): Int16Array {
  const levels = new Int16Array(256);
  for (let level = 0; level < 256; level += 1) levels[level] = Math.round(gain * level + offset);
  return levels;
}

function leastSquares(
  reference: Uint8Array,
  current: Uint8Array,
  light: Light,
  tolerance: number,
): Light | null {
  const { gain, offset } = light;
  let count = 0;
  let sumX = 0;
  let sumY = 0;
  let sumXX = 0;
  let sumXY = 0;
  for (let index = 0; index < reference.length; index += stride) {
    const x = reference[index] ?? 0;
    const y = current[index] ?? 0;
    const left = y - gain * x - offset;
    if (left > tolerance || left < -tolerance) continue;
    count += 1;
    sumX += x;
    sumY += y;
    sumXX += x * x;
    sumXY += x * y;
  }
  if (count < reference.length / stride / 4) return null;
  const varianceX = sumXX - (sumX * sumX) / count;
  // A uniform image contains no information about gain.
  const fitted = varianceX < 9 * count ? 1 : (sumXY - (sumX * sumY) / count) / varianceX;
  return { gain: fitted, offset: (sumY - fitted * sumX) / count };
}

/** Limits the gain and the shift of the mean level. */
function bounded(light: Light, bounds: LightBounds, level: number): Light {
  const gain = clamp(light.gain, 1 / bounds.gain, bounds.gain);
  const shift = clamp(light.gain * level + light.offset - level, -bounds.shift, bounds.shift);
  return { gain, offset: level + shift - gain * level };
}

function mean({ samples }: Plane): number {
  let total = 0;
  for (let pixel = 0; pixel < samples.length; pixel += stride) total += samples[pixel] ?? 0;
  return total / Math.ceil(samples.length / stride);
}

function clamp(value: number, low: number, high: number): number {
  return Math.min(Math.max(value, low), high);
}

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
    const pixel = pair << 1;
    const before = reference[pixel] ?? 0;
    const factor = inverse[before] ?? 0;
    const more = (current[pixel] ?? 0) - (expected[before] ?? 0);
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
    for (let pair = y * pairs; pair < (y + 1) * pairs; pair += 1) {
      const change = relative[pair] ?? 0;
      if (change === unknown) continue;
      const bin = histogramBin(change);
      seen[bin] = (seen[bin] ?? 0) + 1;
      count += 1;
    }
    medians[y] = limited(drainMedian(seen, count), max);
  }
  return bands.map((_, y) => Math.round(meanAround(medians, y)));
}

function meanAround(levels: Float32Array, index: number): number {
  const from = Math.max(index - bandReach, 0);
  const to = Math.min(index + bandReach, levels.length - 1);
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
      for (let pair = start; pair < start + cellPairs; pair += 1) {
        const change = relative[pair] ?? 0;
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
    let pixel = y * width;
    // Segments: border to first center, center to center, last center to border.
    for (let from = 0; from <= columns; from += 1) {
      const first = from === 0 ? cellWidth / 2 : 0;
      const last = from === columns ? cellWidth / 2 : cellWidth;
      const level = line[from] ?? 0;
      const slope = ((line[from + 1] ?? 0) - level) / cellWidth;
      for (let along = first; along < last; along += 1) {
        light[pixel] = level + slope * (along + 0.5);
        pixel += 1;
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
  for (let index = 0; index < columns + 2; index += 1) {
    const column = Math.min(Math.max(index - 1, 0), columns - 1);
    const above = shades[upper * columns + column] ?? 0;
    const below = shades[lower * columns + column] ?? 0;
    line[index] = above + (below - above) * (within - upper) + band;
  }
}

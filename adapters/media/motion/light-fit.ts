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
  for (let at = 0; at < reference.samples.length; at += stride) {
    const bin = histogramBin((current.samples[at] ?? 0) - (reference.samples[at] ?? 0));
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
  for (let at = 0; at < reference.length; at += stride) {
    const x = reference[at] ?? 0;
    const y = current[at] ?? 0;
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
  for (let at = 0; at < samples.length; at += stride) total += samples[at] ?? 0;
  return total / Math.ceil(samples.length / stride);
}

function clamp(value: number, low: number, high: number): number {
  return Math.min(Math.max(value, low), high);
}

import {
  exposureBounds,
  fitLight,
  levelsIn,
  medianDifference,
  whiteBalanceBounds,
  type LightBounds,
  lightOfColor,
  lightOfLuma,
  localLight,
  lightUnit,
  type LightLimits,
  type LocalLight,
} from './light.ts';
import { measureNoise, type NoiseMap } from './noise-map.ts';
import { maxInt, minInt, type Plane, type Planes } from './planes.ts';
import { fullWeight, thresholdFor, weightsFor } from './threshold.ts';
import type { MotionTuning } from './tuning.ts';

/** Camera shift in pixels: reference (x, y) is at (x + right, y + down) in the current image. */
type Shift = { right: number; down: number };

/**
 * Sampling grid and maximum difference of a pixel, in levels: a larger one is motion and does not indicate the
 * shift.
 */
const stepAcross = 5;
const stepDown = 4;
const maxDifference = 24;
/** Minimum share of the difference that a shift must remove. */
const minGain = 0.15;

/**
 * Finds the shift by descent from 0, one pixel per round, at most `most` pixels. `offset` is the median level
 * difference of both luma planes.
 */
export function findShift(reference: Plane, current: Plane, offset: number, max: number): Shift {
  const still = difference(reference, current, offset, max, 0, 0);
  let best: Shift = { right: 0, down: 0 };
  let left = still;
  for (let round = 0; round < max; round += 1) {
    const from = best;
    for (let down = from.down - 1; down <= from.down + 1; down += 1) {
      for (let right = from.right - 1; right <= from.right + 1; right += 1) {
        if (right === from.right && down === from.down) continue;
        const now = difference(reference, current, offset, max, right, down);
        if (now >= left) continue;
        left = now;
        best = { right, down };
      }
    }
    if (best === from) break;
  }
  return left < still * (1 - minGain) ? best : { right: 0, down: 0 };
}

function difference(
  reference: Plane,
  current: Plane,
  offset: number,
  margin: number,
  right: number,
  down: number,
): number {
  const { width, height } = reference;
  const back = down * width + right;
  let total = 0;
  for (let y = margin; y < height - margin; y += stepDown) {
    const row = y * width;
    for (let pixel = row + margin; pixel < row + width - margin; pixel += stepAcross) {
      const levels = (current.samples[pixel] ?? 0) - (reference.samples[pixel - back] ?? 0) - offset;
      const size = levels < 0 ? -levels : levels;
      total += size < maxDifference ? size : maxDifference;
    }
  }
  return total;
}

/**
 * Shifts the reference to the current camera position, with repeated borders. A chroma sample covers 2×2 pixels.
 */
export function applyShift(planes: Planes, { right, down }: Shift): Planes {
  if (right === 0 && down === 0) return planes;
  const [colorRight, colorDown] = [Math.trunc(right / 2), Math.trunc(down / 2)];
  return {
    luma: shiftedPlane(planes.luma, right, down),
    cb: shiftedPlane(planes.cb, colorRight, colorDown),
    cr: shiftedPlane(planes.cr, colorRight, colorDown),
  };
}

function shiftedPlane({ samples, width, height }: Plane, right: number, down: number): Plane {
  const moved = new Uint8Array(samples.length);
  for (let y = 0; y < height; y += 1) {
    const from = Math.min(Math.max(y - down, 0), height - 1) * width;
    for (let x = 0; x < width; x += 1) {
      moved[y * width + x] = samples[from + Math.min(Math.max(x - right, 0), width - 1)] ?? 0;
    }
  }
  return { samples: moved, width, height };
}

const lightBits = Math.log2(lightUnit);

/**
 * Returns the distance of each pixel, in levels, from the range of the reference within `reach` pixels (0 or 1).
 * Inside the range it is 0, which suppresses small shifts and edge noise. `expected` maps each reference level to
 * its level in the current light. At the border, edge pixels are repeated.
 */
function distances(
  reference: Plane,
  current: Uint8Array,
  expected: Int16Array,
  light: { local: LocalLight; at: Uint8Array },
  reach: 0 | 1,
): Uint8Array {
  const { width, height, samples } = reference;
  const { low, high } = reach === 0 ? { low: samples, high: samples } : extremesAlongRows(reference);
  const { local, at: lightAt } = light;
  const differences = new Uint8Array(current.length);
  for (let y = 0; y < height; y += 1) {
    const up = y === 0 ? 0 : reach * width;
    const down = y === height - 1 ? 0 : reach * width;
    for (let pixel = y * width; pixel < (y + 1) * width; pixel += 1) {
      const least = minInt(minInt(low[pixel - up] ?? 0, low[pixel] ?? 0), low[pixel + down] ?? 0);
      const max = maxInt(maxInt(high[pixel - up] ?? 0, high[pixel] ?? 0), high[pixel + down] ?? 0);
      const lit = (local[pixel] ?? 0) * (lightAt[samples[pixel] ?? 0] ?? 0);
      const seen = (current[pixel] ?? 0) - ((lit + lightUnit / 2) >> lightBits);
      const beyond = maxInt(seen - (expected[max] ?? 0), (expected[least] ?? 0) - seen);
      differences[pixel] = minInt(maxInt(beyond, 0), 255);
    }
  }
  return differences;
}

function extremesAlongRows({ samples, width }: Plane): { low: Uint8Array; high: Uint8Array } {
  const low = new Uint8Array(samples.length);
  const high = new Uint8Array(samples.length);
  for (let row = 0; row < samples.length; row += width) {
    let left = samples[row] ?? 0;
    let here = left;
    const last = row + width - 1;
    for (let pixel = row; pixel < last; pixel += 1) {
      const right = samples[pixel + 1] ?? 0;
      low[pixel] = minInt(left, minInt(here, right));
      high[pixel] = maxInt(left, maxInt(here, right));
      left = here;
      here = right;
    }
    low[last] = minInt(left, here);
    high[last] = maxInt(left, here);
  }
  return { low, high };
}

/** Differences from the reference after correction of camera shift, light and noise. */
export type Changes = {
  /** Change of each luma pixel, in sixteenths (`weightsFor`): the larger of its luma and chroma change. */
  weights: Uint8Array;
  /** 1 for each luma pixel whose luma or chroma changed beyond the threshold, without the noise map. */
  beyondDoubt: Uint8Array;
  /** Number of pixels in `beyondDoubt`. */
  countWithoutNoiseMap: number;
};

/**
 * Distances between two blurred thumbnails after correction of camera shift and light. They do not depend on the
 * learned noise.
 */
export type Differences = {
  luma: Comparison;
  colors: readonly ColorComparison[];
  /** Noise of the frame, which the noise map learns. */
  noise: NoiseMap;
};

/** Computes the distances between two blurred thumbnails. */
export function measureDifferences(remembered: Planes, current: Planes, tuning: MotionTuning): Differences {
  const offset = medianDifference(remembered.luma, current.luma);
  const reference = applyShift(
    remembered,
    findShift(remembered.luma, current.luma, offset, tuning.shiftPixels),
  );
  const luma = compare(reference.luma, current.luma, lumaLight(tuning), tuning);
  const noise = measureNoise(luma.distance, tuning.learnedInside);
  if (!tuning.color) return { luma, colors: [], noise };
  const colors = (['cb', 'cr'] as const).map((plane) => ({
    ...compare(reference[plane], current[plane], colorLight(tuning), tuning),
    width: current[plane].width,
  }));
  return { luma, colors, noise };
}

/** Weighs distances against the learned noise. `allowance` is the noise of each pixel, in levels. */
export function weighDifferences({ luma, colors }: Differences, allowance: Uint8Array): Changes {
  const changes = lumaChanges(luma, allowance);
  for (const color of colors) addColor(changes, color, color.width, allowance);
  return changes;
}

type Comparison = { distance: Uint8Array; weightAt: Uint8Array };
type ColorComparison = Comparison & { width: number };

type LightModel = { bounds: LightBounds; lightAt: Uint8Array; limits: LightLimits };

function lumaLight({ bandShare, shadeShare }: MotionTuning): LightModel {
  return {
    bounds: exposureBounds,
    lightAt: lightOfLuma,
    limits: { band: bandShare, shade: shadeShare },
  };
}

function colorLight({ tintShare }: MotionTuning): LightModel {
  return { bounds: whiteBalanceBounds, lightAt: lightOfColor, limits: { band: 0, shade: tintShare } };
}

function compare(
  reference: Plane,
  current: Plane,
  { bounds, lightAt, limits }: LightModel,
  tuning: MotionTuning,
): Comparison {
  const expected = levelsIn(fitLight(reference, current, bounds));
  const local = localLight(reference, current, expected, lightAt, limits);
  const light = { local, at: lightAt };
  const distance = distances(reference, current.samples, expected, light, tuning.reach);
  return { distance, weightAt: weightsFor(thresholdFor(distance, current.width, tuning), tuning) };
}

function lumaChanges({ distance, weightAt }: Comparison, allowance: Uint8Array): Changes {
  const weights = new Uint8Array(distance.length);
  const beyondDoubt = new Uint8Array(distance.length);
  let countWithoutNoiseMap = 0;
  for (let pixel = 0; pixel < distance.length; pixel += 1) {
    const level = distance[pixel] ?? 0;
    if (weightAt[level] === 0) continue;
    if (weightAt[level] === fullWeight) {
      beyondDoubt[pixel] = 1;
      countWithoutNoiseMap += 1;
    }
    const beyond = level - (allowance[pixel] ?? 0);
    if (beyond > 0) weights[pixel] = weightAt[beyond] ?? 0;
  }
  return { weights, beyondDoubt, countWithoutNoiseMap };
}

/**
 * Adds the changes of one chroma plane. A chroma sample covers 2×2 luma pixels; a pixel counts once, even if luma
 * and both chroma planes have changed.
 */
function addColor(changes: Changes, color: Comparison, colorWidth: number, allowance: Uint8Array): void {
  const { weights, beyondDoubt } = changes;
  const { distance, weightAt } = color;
  const width = colorWidth * 2;
  for (let sample = 0; sample < distance.length; sample += 1) {
    const level = distance[sample] ?? 0;
    if (weightAt[level] === 0) continue;
    const row = Math.floor(sample / colorWidth);
    const corner = row * 2 * width + (sample - row * colorWidth) * 2;
    for (let of4 = 0; of4 < 4; of4 += 1) {
      const pixel = corner + (of4 & 1) + (of4 >> 1) * width;
      if (weightAt[level] === fullWeight && beyondDoubt[pixel] === 0) {
        beyondDoubt[pixel] = 1;
        changes.countWithoutNoiseMap += 1;
      }
      const beyond = level - (allowance[pixel] ?? 0);
      const weight = beyond > 0 ? (weightAt[beyond] ?? 0) : 0;
      if (weight > (weights[pixel] ?? 0)) weights[pixel] = weight;
    }
  }
}

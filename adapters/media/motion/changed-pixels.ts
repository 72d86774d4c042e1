import { distances } from './distance.ts';
import {
  exposureBounds,
  fitLight,
  levelsIn,
  type LightBounds,
  medianDifference,
  whiteBalanceBounds,
} from './light-fit.ts';
import { type LightLimits, lightOfColor, lightOfLuma, localLight } from './local-light.ts';
import { measureNoise, type NoiseMap } from './noise-map.ts';
import type { Plane, Planes } from './planes.ts';
import { findShift, applyShift } from './shift.ts';
import { fullWeight, thresholdFor, weightsFor } from './threshold.ts';
import type { MotionTuning } from './tuning.ts';

/** Differences from the reference after correction of camera shift, light and noise. */
export type Changes = {
  /** Change of each luma pixel, in sixteenths (`weightsFor`): the larger of its luma and chroma change. */
  weights: Uint8Array;
  /** 1 for each luma pixel whose luma or chroma changed beyond the threshold, without the noise map. */
  beyondDoubt: Uint8Array;
  /** Number of pixels in `beyondDoubt`. */
  countWithoutNoiseMap: number;
};

/** Distances between two blurred thumbnails after correction of camera shift and light. They do not depend on the learned noise. */
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
  for (let at = 0; at < distance.length; at += 1) {
    const level = distance[at] ?? 0;
    if (weightAt[level] === 0) continue;
    if (weightAt[level] === fullWeight) {
      beyondDoubt[at] = 1;
      countWithoutNoiseMap += 1;
    }
    const beyond = level - (allowance[at] ?? 0);
    if (beyond > 0) weights[at] = weightAt[beyond] ?? 0;
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
      const at = corner + (of4 & 1) + (of4 >> 1) * width;
      if (weightAt[level] === fullWeight && beyondDoubt[at] === 0) {
        beyondDoubt[at] = 1;
        changes.countWithoutNoiseMap += 1;
      }
      const beyond = level - (allowance[at] ?? 0);
      const weight = beyond > 0 ? (weightAt[beyond] ?? 0) : 0;
      if (weight > (weights[at] ?? 0)) weights[at] = weight;
    }
  }
}

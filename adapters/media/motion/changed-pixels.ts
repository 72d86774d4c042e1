import { distances } from './distance.ts';
import { exposureBounds, fitLight, type LightBounds, whiteBalanceBounds } from './light-fit.ts';
import { localLight, spread } from './local-light.ts';
import { allowance } from './noise-map.ts';
import type { Plane, Planes } from './planes.ts';

/** What differs from the reference once light and noise are taken out. */
export type Changes = {
  /** 1 where a luma pixel changed, or the chroma that covers it. */
  mask: Uint8Array;
  /** How many are set in `mask`. */
  count: number;
  /** How many would be without the learned noise map. */
  countWithoutNoiseMap: number;
  /** Luma distances, in levels: what the noise map learns from. */
  lumaDistance: Uint8Array;
};

/** Bounds of the threshold in levels. */
const leastThreshold = 12;
const mostThreshold = 30;
/** Distances between two looks at the same scene stay below this many times their typical size. */
const noiseFactor = 6;

/** Both pictures are blurred ones. */
export function changedPixels(reference: Planes, current: Planes, noise: Uint8Array): Changes {
  const luma = compare(reference.luma, current.luma, exposureBounds);
  const changes = lumaChanges(luma, noise);
  for (const plane of ['blueness', 'redness'] as const) {
    const chroma = compare(reference[plane], current[plane], whiteBalanceBounds);
    addChroma(changes, chroma, current[plane].width, noise);
  }
  return changes;
}

type Comparison = { distance: Uint8Array; threshold: number };

function compare(reference: Plane, current: Plane, bounds: LightBounds): Comparison {
  const light = fitLight(reference, current, bounds);
  const local = spread(localLight(reference, current, light), current.width, current.height);
  const distance = distances(reference, current, light, local);
  return { distance, threshold: thresholdFor(distance) };
}

/** Follows the noise: the mean of the lower nine tenths, which leaves out what moved. */
function thresholdFor(distance: Uint8Array): number {
  const histogram = new Uint32Array(256);
  for (let at = 0; at < distance.length; at += 1) {
    const level = distance[at] ?? 0;
    histogram[level] = (histogram[level] ?? 0) + 1;
  }
  const kept = distance.length * 0.9;
  let counted = 0;
  let total = 0;
  for (let level = 0; level < 256 && counted < kept; level += 1) {
    const taken = Math.min(histogram[level] ?? 0, kept - counted);
    counted += taken;
    total += taken * level;
  }
  return Math.min(Math.max((noiseFactor * total) / kept, leastThreshold), mostThreshold);
}

function lumaChanges({ distance, threshold }: Comparison, noise: Uint8Array): Changes {
  const mask = new Uint8Array(distance.length);
  let count = 0;
  let countWithoutNoiseMap = 0;
  for (let at = 0; at < distance.length; at += 1) {
    const beyond = (distance[at] ?? 0) - threshold;
    if (beyond <= 0) continue;
    countWithoutNoiseMap += 1;
    if (beyond <= allowance(noise, at)) continue;
    mask[at] = 1;
    count += 1;
  }
  return { mask, count, countWithoutNoiseMap, lumaDistance: distance };
}

/** One chroma sample covers 2×2 luma pixels. Counts are of pixels, so what luma has marked already is not counted again. */
function addChroma(changes: Changes, chroma: Comparison, chromaWidth: number, noise: Uint8Array): void {
  const width = chromaWidth * 2;
  for (let sample = 0; sample < chroma.distance.length; sample += 1) {
    const beyond = (chroma.distance[sample] ?? 0) - chroma.threshold;
    if (beyond <= 0) continue;
    const corner = Math.floor(sample / chromaWidth) * 2 * width + (sample % chromaWidth) * 2;
    for (const at of [corner, corner + 1, corner + width, corner + width + 1]) {
      if (changes.mask[at] === 1) continue;
      changes.countWithoutNoiseMap += 1;
      if (beyond <= allowance(noise, at)) continue;
      changes.mask[at] = 1;
      changes.count += 1;
    }
  }
}

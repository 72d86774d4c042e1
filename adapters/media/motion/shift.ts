import type { Plane, Planes } from './planes.ts';

/** Camera shift in pixels: reference (x, y) is at (x + right, y + down) in the current image. */
export type Shift = { right: number; down: number };

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
  let found: Shift = { right: 0, down: 0 };
  let left = still;
  for (let round = 0; round < max; round += 1) {
    const from = found;
    for (let down = from.down - 1; down <= from.down + 1; down += 1) {
      for (let right = from.right - 1; right <= from.right + 1; right += 1) {
        if (right === from.right && down === from.down) continue;
        const now = difference(reference, current, offset, max, right, down);
        if (now >= left) continue;
        left = now;
        found = { right, down };
      }
    }
    if (found === from) break;
  }
  return left < still * (1 - minGain) ? found : { right: 0, down: 0 };
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
    for (let at = row + margin; at < row + width - margin; at += stepAcross) {
      const levels = (current.samples[at] ?? 0) - (reference.samples[at - back] ?? 0) - offset;
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

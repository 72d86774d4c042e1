import { thumbnail } from '../../../core/records/capture.ts';
import { maxInt, minInt } from './planes.ts';

/**
 * Learned noise per 2×2 cell; rises by half of a difference, so a clock is learned in two or three ticks. An object
 * that appears once does not hide its own disappearance.
 */

/** One level per cell: the usual distance of its pixels from the reference. */
export type NoiseMap = Uint8Array;

const [width, height] = [thumbnail.width / 2, thumbnail.height / 2];
export const noiseCells = width * height;
/**
 * Height of the top and bottom strips, in cells. Clocks, names and logos are there, so noise in them has no upper
 * bound.
 */
const stripRows = Math.round(height * 0.16);
/** Horizontal spread in a strip, in cells: a changed digit also raises the noise of its neighbors. */
const reach = 3;

export function quietNoiseMap(): NoiseMap {
  return new Uint8Array(noiseCells);
}

/** Returns the distance that each luma pixel must exceed, in levels. `share` scales the learned noise. */
export function noiseAllowance(noise: NoiseMap, share: number): Uint8Array {
  const allowance = new Uint8Array(noiseCells * 4);
  for (let cell = 0; cell < noiseCells; cell += 1) {
    const learned = noise[cell] ?? 0;
    if (learned === 0) continue;
    const level = minInt(Math.round(share * learned), 255);
    const corner = cellCorner(cell);
    allowance[corner] = level;
    allowance[corner + 1] = level;
    allowance[corner + thumbnail.width] = level;
    allowance[corner + thumbnail.width + 1] = level;
  }
  return allowance;
}

/** Updates the map with the noise of a frame (`measureNoise`). */
export function learnNoise(noise: NoiseMap, seen: NoiseMap): NoiseMap {
  const learned = new Uint8Array(noiseCells);
  for (let cell = 0; cell < noiseCells; cell += 1) learned[cell] = follow(noise[cell] ?? 0, seen[cell] ?? 0);
  return learned;
}

/**
 * Returns the noise of a frame from a distance per luma pixel. Outside the strips, it is limited to `maxInside` levels.
 */
export function measureNoise(distance: Uint8Array, maxInside: number): NoiseMap {
  const seen = greatestInCells(distance);
  const noise = new Uint8Array(noiseCells);
  for (let y = 0; y < height; y += 1) {
    const strip = y < stripRows || y >= height - stripRows;
    for (let cell = y * width; cell < (y + 1) * width; cell += 1) {
      noise[cell] = strip ? widest(seen, y * width, cell) : minInt(seen[cell] ?? 0, maxInside);
    }
  }
  return noise;
}

function cellCorner(cell: number): number {
  const row = Math.floor(cell / width);
  return row * 2 * thumbnail.width + (cell - row * width) * 2;
}

function greatestInCells(distance: Uint8Array): Uint8Array {
  const cells = new Uint8Array(noiseCells);
  for (let cell = 0; cell < noiseCells; cell += 1) {
    const corner = cellCorner(cell);
    const below = corner + thumbnail.width;
    cells[cell] = maxInt(
      maxInt(distance[corner] ?? 0, distance[corner + 1] ?? 0),
      maxInt(distance[below] ?? 0, distance[below + 1] ?? 0),
    );
  }
  return cells;
}

function widest(seen: Uint8Array, row: number, cell: number): number {
  let max = 0;
  const end = Math.min(cell + reach, row + width - 1);
  for (let near = Math.max(cell - reach, row); near <= end; near += 1) max = maxInt(max, seen[near] ?? 0);
  return max;
}

/** Rises by half of the difference; falls by about 3 % per tick, at least by one level. */
function follow(learned: number, seen: number): number {
  if (seen > learned) return (learned + seen + 1) >> 1;
  return learned - (learned < 32 ? minInt(learned, 1) : learned >> 5);
}

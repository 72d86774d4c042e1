import { thumbnail } from '../../../core/capture.ts';
import { greater, lesser } from './integers.ts';

/**
 * How far the picture is used to stray, in cells of 2×2 pixels, learned from tick to tick. It follows half of what is new, so that
 * something seen once (it came) does not hide the next (it left), while a clock that changes at every tick is
 * known after two or three.
 */

/** One level a cell: how far, in levels, the pixels in it are used to lie from the reference. */
export type NoiseMap = Uint8Array;

const [width, height] = [thumbnail.width / 2, thumbnail.height / 2];
export const noiseCells = width * height;
/** Clocks, names and logos sit at the top and bottom edge; only there may a cell become as restless as it likes. */
const stripRows = Math.round(height * 0.16);
/** A digit that changed makes its neighbours expected too: this far to the sides, in cells. */
const reach = 3;

export function quietNoiseMap(): NoiseMap {
  return new Uint8Array(noiseCells);
}

/** What the distance of each luma pixel must exceed before it counts, in levels. */
export function allowanceOf(noise: NoiseMap, share: number): Uint8Array {
  const allowance = new Uint8Array(noiseCells * 4);
  for (let cell = 0; cell < noiseCells; cell += 1) {
    const learned = noise[cell] ?? 0;
    if (learned === 0) continue;
    const level = lesser(Math.round(share * learned), 255);
    const at = cornerOf(cell);
    allowance[at] = level;
    allowance[at + 1] = level;
    allowance[at + thumbnail.width] = level;
    allowance[at + thumbnail.width + 1] = level;
  }
  return allowance;
}

/** Away from the edges a cell never counts as more restless than `mostInside` levels. */
export function learnNoise(noise: NoiseMap, distance: Uint8Array, mostInside: number): NoiseMap {
  const seen = greatestInCells(distance);
  const learned = new Uint8Array(noiseCells);
  for (let y = 0; y < height; y += 1) {
    const strip = y < stripRows || y >= height - stripRows;
    for (let cell = y * width; cell < (y + 1) * width; cell += 1) {
      const now = strip ? widest(seen, y * width, cell) : lesser(seen[cell] ?? 0, mostInside);
      learned[cell] = follow(noise[cell] ?? 0, now);
    }
  }
  return learned;
}

function cornerOf(cell: number): number {
  const row = Math.floor(cell / width);
  return row * 2 * thumbnail.width + (cell - row * width) * 2;
}

function greatestInCells(distance: Uint8Array): Uint8Array {
  const cells = new Uint8Array(noiseCells);
  for (let cell = 0; cell < noiseCells; cell += 1) {
    const at = cornerOf(cell);
    const below = at + thumbnail.width;
    cells[cell] = greater(
      greater(distance[at] ?? 0, distance[at + 1] ?? 0),
      greater(distance[below] ?? 0, distance[below + 1] ?? 0),
    );
  }
  return cells;
}

function widest(seen: Uint8Array, row: number, cell: number): number {
  let most = 0;
  const end = Math.min(cell + reach, row + width - 1);
  for (let near = Math.max(cell - reach, row); near <= end; near += 1) most = greater(most, seen[near] ?? 0);
  return most;
}

/** Half of the way up; down about 3 % a tick, at least one level in the end. */
function follow(known: number, seen: number): number {
  if (seen > known) return (known + seen + 1) >> 1;
  return known - (known < 32 ? lesser(known, 1) : known >> 5);
}

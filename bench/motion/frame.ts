import { Random } from '../../test/simulation/random.ts';

/** Brightness, blueness and redness of a pixel, or one plane of each, in the video range. */
export type Levels = readonly [luma: number, blueness: number, redness: number];
/** Frame in planar yuv444p. */
export type Frame = { width: number; height: number; planes: [Uint8Array, Uint8Array, Uint8Array] };
export type Place = readonly [left: number, top: number, wide: number, high: number];

/** Size of all clips, in pixels. */
export const picture = { width: 1280, height: 720 } as const;
const [black, white] = [16, 235];

export function blankFrame(width: number, height: number): Frame {
  const plane = () => new Uint8Array(width * height).fill(128);
  return { width, height, planes: [plane(), plane(), plane()] };
}

export function clampLuma(level: number): number {
  return Math.min(Math.max(level, black), white);
}

/** Blends levels into the pixels of a rectangle that are in the frame; `null` changes nothing. */
export function paint(
  frame: Frame,
  [left, top, wide, high]: Place,
  levelsAt: (x: number, y: number) => Levels | null,
  share = 1,
): void {
  const { width, height, planes } = frame;
  const [toX, toY] = [Math.min(Math.round(left + wide), width), Math.min(Math.round(top + high), height)];
  for (let y = Math.max(Math.round(top), 0); y < toY; y += 1)
    for (let x = Math.max(Math.round(left), 0); x < toX; x += 1) {
      const levels = levelsAt(x, y);
      if (levels === null) continue;
      const index = y * width + x;
      planes[0][index]! += (clampLuma(levels[0]) - planes[0][index]!) * share;
      planes[1][index]! += (levels[1] - planes[1][index]!) * share;
      planes[2][index]! += (levels[2] - planes[2][index]!) * share;
    }
}

/** Multiplies the brightness of each pixel. */
export function expose({ width, planes: [luma] }: Frame, gainAt: (x: number, y: number) => number): void {
  for (let index = 0; index < luma.length; index += 1)
    luma[index] = clampLuma(
      black + (luma[index]! - black) * gainAt(index % width, Math.floor(index / width)),
    );
}

/** Equal seeds draw equal scenes on every machine. */
export class Draws extends Random {
  constructor(seed: number) {
    super(Math.imul(seed ^ 0x9e3779b9, 0x85ebca6b));
    this.next();
  }

  /** Returns a number in [low, high). */
  between(low: number, high: number): number {
    return low + this.next() * (high - low);
  }

  /** Returns a shuffled copy (Fisher–Yates). */
  shuffled<T>(items: readonly T[]): T[] {
    const order = [...items];
    for (let index = order.length - 1; index > 0; index -= 1) {
      const other = this.integer(0, index);
      [order[index], order[other]] = [order[other]!, order[index]!];
    }
    return order;
  }
}

/** Returns a seed for a name and an index. Different names give independent seeds (FNV-1a). */
export function createSeed(name: string, index: number): number {
  let hash = 0x811c9dc5;
  for (const letter of `${name} ${index}`) hash = Math.imul(hash ^ letter.charCodeAt(0), 0x01000193);
  return hash >>> 4;
}

export type Grain = { cell: number; octaves: number; roughness: number };

/**
 * Returns value noise: octaves of smooth random grids, each with half the cell size and `roughness` times the
 * strength of the previous one. With a roughness near 0.5, its spectrum resembles natural images. Values are within
 * -1 and 1, mostly ±0.5.
 */
export function texture(width: number, height: number, seed: number, grain: Grain): Float32Array {
  const sum = new Float32Array(width * height);
  let total = 0;
  for (let octave = 0; octave < grain.octaves; octave += 1) {
    const strength = grain.roughness ** octave;
    addOctave(sum, width, Math.max(grain.cell / 2 ** octave, 1), strength, new Draws(seed * 31 + octave));
    total += strength;
  }
  return sum.map((value) => value / total);
}

function addOctave(sum: Float32Array, width: number, cell: number, strength: number, random: Draws): void {
  const height = sum.length / width;
  const columns = Math.ceil(width / cell) + 2;
  const grid = Float32Array.from({ length: columns * (Math.ceil(height / cell) + 2) }, () =>
    random.between(-strength, strength),
  );
  const across = Array.from({ length: width }, (_, x) => step(x / cell));
  for (let y = 0; y < height; y += 1) {
    const row = step(y / cell);
    for (let x = 0; x < width; x += 1) {
      const { cellAt, share } = across[x]!;
      const upper = row.cellAt * columns + cellAt;
      const lower = upper + columns;
      const above = grid[upper]! + (grid[upper + 1]! - grid[upper]!) * share;
      const below = grid[lower]! + (grid[lower + 1]! - grid[lower]!) * share;
      sum[y * width + x]! += above + (below - above) * row.share;
    }
  }
}

/** Interpolates with smoothstep between the corners of a cell. */
function step(position: number): { cellAt: number; share: number } {
  const cellAt = Math.floor(position);
  const along = position - cellAt;
  return { cellAt, share: along * along * (3 - 2 * along) };
}

import { randomFrom } from './random.ts';

/**
 * Returns value noise: octaves of smooth random grids, each with half the cell size and `roughness` times the
 * strength of the previous one. With a roughness near 0.5, its spectrum resembles natural images. Values are within
 * -1 and 1, mostly ±0.5.
 */
export function texture(
  width: number,
  height: number,
  seed: number,
  { cell, octaves, roughness }: { cell: number; octaves: number; roughness: number },
): Float32Array {
  const sum = new Float32Array(width * height);
  let strength = 1;
  let total = 0;
  for (let octave = 0; octave < octaves; octave += 1) {
    addOctave(sum, width, height, Math.max(cell / 2 ** octave, 1), strength, seed * 31 + octave);
    total += strength;
    strength *= roughness;
  }
  for (let at = 0; at < sum.length; at += 1) sum[at] = sum[at]! / total;
  return sum;
}

function addOctave(
  sum: Float32Array,
  width: number,
  height: number,
  cell: number,
  strength: number,
  seed: number,
): void {
  const random = randomFrom(seed);
  const columns = Math.ceil(width / cell) + 2;
  const grid = Float32Array.from({ length: columns * (Math.ceil(height / cell) + 2) }, () =>
    random.between(-strength, strength),
  );
  const across = Array.from({ length: width }, (_, x) => step(x / cell));
  const columnAt = Uint16Array.from(across, ({ cellAt }) => cellAt);
  const shareAt = Float32Array.from(across, ({ share }) => share);
  for (let y = 0; y < height; y += 1) {
    const { cellAt, share } = step(y / cell);
    const upper = cellAt * columns;
    for (let x = 0; x < width; x += 1) {
      const corner = upper + columnAt[x]!;
      const right = shareAt[x]!;
      const above = grid[corner]! + (grid[corner + 1]! - grid[corner]!) * right;
      const lower = corner + columns;
      const below = grid[lower]! + (grid[lower + 1]! - grid[lower]!) * right;
      sum[y * width + x] = sum[y * width + x]! + above + (below - above) * share;
    }
  }
}

/** Interpolates with smoothstep between the corners of a cell. */
function step(position: number): { cellAt: number; share: number } {
  const cellAt = Math.floor(position);
  const along = position - cellAt;
  return { cellAt, share: along * along * (3 - 2 * along) };
}

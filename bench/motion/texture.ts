/** Seeded random generator (mulberry32): equal seeds draw equal scenes on every machine. */
export type Random = {
  /** Returns a number in [low, high). */
  between(low: number, high: number): number;
  /** Returns an integer in [low, high]. */
  whole(low: number, high: number): number;
  pick<T>(choices: readonly T[]): T;
  /** Returns a shuffled copy (Fisher–Yates). */
  shuffled<T>(items: readonly T[]): T[];
};

/** Creates a generator from a seed. */
export function randomFrom(seed: number): Random {
  let state = Math.imul(seed ^ 0x9e3779b9, 0x85ebca6b) >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  next();
  const whole = (low: number, high: number): number => low + Math.floor(next() * (high - low + 1));
  return {
    between: (low, high) => low + next() * (high - low),
    whole,
    pick: (choices) => choices[whole(0, choices.length - 1)]!,
    shuffled(items) {
      const order = [...items];
      for (let at = order.length - 1; at > 0; at -= 1) {
        const other = whole(0, at);
        [order[at], order[other]] = [order[other]!, order[at]!];
      }
      return order;
    },
  };
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
export function texture(
  width: number,
  height: number,
  seed: number,
  { cell, octaves, roughness }: Grain,
): Float32Array {
  const sum = new Float32Array(width * height);
  let total = 0;
  for (let octave = 0; octave < octaves; octave += 1) {
    const strength = roughness ** octave;
    addOctave(sum, width, Math.max(cell / 2 ** octave, 1), strength, randomFrom(seed * 31 + octave));
    total += strength;
  }
  return sum.map((value) => value / total);
}

function addOctave(sum: Float32Array, width: number, cell: number, strength: number, random: Random): void {
  const height = sum.length / width;
  const columns = Math.ceil(width / cell) + 2;
  const grid = Float32Array.from({ length: columns * (Math.ceil(height / cell) + 2) }, () =>
    random.between(-strength, strength),
  );
  const across = Array.from({ length: width }, (_, x) => step(x / cell));
  const columnAt = Uint16Array.from(across, ({ cellAt }) => cellAt);
  const shareAt = Float32Array.from(across, ({ share }) => share);
  for (let y = 0; y < height; y += 1) {
    const { cellAt, share } = step(y / cell);
    for (let x = 0; x < width; x += 1) {
      const corner = cellAt * columns + columnAt[x]!;
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

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

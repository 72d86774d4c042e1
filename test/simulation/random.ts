/** Seeded pseudo-random numbers (mulberry32). */
export class Random {
  private state: number;

  constructor(seed: number) {
    this.state = seed;
  }

  /** From 0 to below 1. */
  next(): number {
    this.state = (this.state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.state ^ (this.state >>> 15), 1 | this.state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  chance(share: number): boolean {
    return this.next() < share;
  }

  /** Both bounds included. */
  integer(from: number, to: number): number {
    return from + Math.floor(this.next() * (to - from + 1));
  }

  pick<Value>(values: readonly Value[]): Value {
    return values[this.integer(0, values.length - 1)]!;
  }
}

/**
 * Returns the smaller of two 32-bit integers. It has no branch, which the processor would mispredict half of the
 * time.
 */
export function minInt(a: number, b: number): number {
  const difference = a - b;
  return b + (difference & (difference >> 31));
}

/** Returns the larger of two 32-bit integers, without a branch. */
export function maxInt(a: number, b: number): number {
  const difference = a - b;
  return a - (difference & (difference >> 31));
}

/** Without a branch: on pictures every second guess of the processor would be wrong. For 32-bit integers. */
export function lesser(a: number, b: number): number {
  const difference = a - b;
  return b + (difference & (difference >> 31));
}

export function greater(a: number, b: number): number {
  const difference = a - b;
  return a - (difference & (difference >> 31));
}

/** Bounds of a sweep. */
export type SweepBounds = {
  /** Time from which no repair begins; the next sweep does the rest. */
  endBy?: Date | undefined;
  /** Maximum concurrent repairs. Default: 1. */
  atOnce?: number;
};

/** Repairs one id after the other, or some of them concurrently. Returns the number of repairs that began. */
export async function repairEach(
  ids: readonly string[],
  repair: (id: string) => Promise<void>,
  { endBy, atOnce = 1 }: SweepBounds,
  now: () => Date,
): Promise<number> {
  const left = [...ids].toReversed();
  let begun = 0;
  await Promise.all(Array.from({ length: Math.min(atOnce, ids.length) }, repairNext));
  return begun;

  async function repairNext(): Promise<void> {
    for (let id = left.pop(); id !== undefined; id = left.pop()) {
      if (endBy && now() >= endBy) return;
      begun += 1;
      await repair(id);
    }
  }
}

/**
 * Counts of whole differences, to find a median without sorting. Differences beyond the bound count as the bound, from which
 * every median that is used here is far.
 */
export type Differences = Uint16Array;

const bound = 127;

export function noDifferences(): Differences {
  return new Uint16Array(2 * bound + 2);
}

/** Where a difference is counted. */
export function binOf(difference: number): number {
  return difference < -bound ? 0 : difference > bound ? 2 * bound : difference + bound;
}

/** Of `total` counted differences, 0 of none; empties the counts. */
export function takeMedian(differences: Differences, total: number): number {
  return takeShare(differences, total, 0.5);
}

/** What a share of `total` counted differences stays below or at, 0 of none; empties the counts. */
export function takeShare(differences: Differences, total: number, share: number): number {
  if (total === 0) return 0;
  let left = Math.floor(total * share);
  let bin = 0;
  for (; bin < 2 * bound; bin += 1) {
    left -= differences[bin] ?? 0;
    if (left < 0) break;
  }
  differences.fill(0);
  return bin - bound;
}

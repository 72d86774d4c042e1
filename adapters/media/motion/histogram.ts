/**
 * Histogram of integer differences, for medians without sorting. Differences beyond ±127 count as ±127, far from
 * every median in use.
 */
export type Histogram = Uint16Array;

const bound = 127;

/** Creates an empty histogram. */
export function emptyHistogram(): Histogram {
  return new Uint16Array(2 * bound + 2);
}

/** Returns the bin of a difference. */
export function histogramBin(difference: number): number {
  return difference < -bound ? 0 : difference > bound ? 2 * bound : difference + bound;
}

/** Returns the median of `total` counted differences, or 0 if `total` is 0. Clears the histogram. */
export function drainMedian(differences: Histogram, total: number): number {
  return drainQuantile(differences, total, 0.5);
}

/** Returns the quantile `share` of `total` counted differences, or 0 if `total` is 0. Clears the histogram. */
export function drainQuantile(differences: Histogram, total: number, share: number): number {
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

/** Size of the memory at one time. */
export type Sample = { hours: number; heapMb: number; residentMb: number };

/** Computes the growth per hour of a value by least squares. Returns 0 for fewer than two samples. */
export function computeSlope(samples: readonly Sample[], read: (sample: Sample) => number): number {
  if (samples.length < 2) return 0;
  const mean = (values: number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
  const meanHours = mean(samples.map(({ hours }) => hours));
  const meanValue = mean(samples.map(read));
  const [product, square] = samples.reduce<[number, number]>(
    ([products, squares], sample) => [
      products + (sample.hours - meanHours) * (read(sample) - meanValue),
      squares + (sample.hours - meanHours) ** 2,
    ],
    [0, 0],
  );
  return square === 0 ? 0 : product / square;
}

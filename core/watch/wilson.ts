/** Normal quantile of a 95 % confidence interval. */
const z = 1.96;

/**
 * Returns the Wilson score interval of a proportion, `null` without observations. Unlike the normal approximation it holds for few
 * observations and for proportions near 0 and 1 (Wilson 1927).
 */
export function wilsonInterval(successes: number, total: number): { from: number; to: number } | null {
  if (total === 0) return null;
  const share = successes / total;
  const scale = 1 + (z * z) / total;
  const center = (share + (z * z) / (2 * total)) / scale;
  const margin = (z / scale) * Math.sqrt((share * (1 - share)) / total + (z * z) / (4 * total * total));
  return { from: Math.max(0, center - margin), to: Math.min(1, center + margin) };
}

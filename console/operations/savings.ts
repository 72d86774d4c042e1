import type { Metrics } from '../api/types.ts';

/** Returns the share of captures that the pre-filter skipped, 0 to 1; `null` before the first capture. */
export function savings({ captured, skipped_prefilter: skipped }: Metrics['frames']): number | null {
  const all = captured + skipped;
  return all === 0 ? null : skipped / all;
}

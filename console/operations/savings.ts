import type { Metrics } from '../api/types.ts';

/** Share of the captures that the pre-filter kept from the model; null where nothing was captured yet. */
export function savings({ captured, skipped_prefilter: skipped }: Metrics['frames']): number | null {
  const all = captured + skipped;
  return all === 0 ? null : skipped / all;
}

import type { Sight } from '../../records/sight.ts';
import type { WatchCauses, WatchStatus } from '../../records/watch-state.ts';

/** Returns the status: the first cause that applies, in a fixed order. */
export function watchStatus(
  { paused, off_schedule, budget_exhausted }: WatchCauses,
  { stream_trouble: trouble }: Pick<Sight, 'stream_trouble'>,
): WatchStatus {
  if (paused) return 'paused';
  if (off_schedule) return 'off_schedule';
  if (budget_exhausted) return 'budget_exhausted';
  return trouble?.lost ? 'stream_lost' : 'active';
}

import type { WatchCauses, WatchStatus } from '../../records/watch-state.ts';

/** Returns the status: the first cause that applies, in a fixed order. */
export function watchStatus({
  paused,
  off_schedule,
  budget_exhausted,
  stream_lost,
}: WatchCauses): WatchStatus {
  if (paused) return 'paused';
  if (off_schedule) return 'off_schedule';
  if (budget_exhausted) return 'budget_exhausted';
  return stream_lost ? 'stream_lost' : 'active';
}

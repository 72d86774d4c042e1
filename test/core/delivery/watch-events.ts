import type { NewWatchEvent, WatchEvent } from '../../../core/records/watch-event.ts';
import type { Watch } from '../../../core/records/watch.ts';

/** Numbers events of a watch from `sequence` + 1. */
export function toWatchEvents(
  events: readonly NewWatchEvent[],
  { watch_id, config }: Watch,
  sequence: number,
  at: Date,
): WatchEvent[] {
  return events.map((event, index) => ({
    ...event,
    watch_id,
    watch_name: config.name,
    labels: config.labels,
    sequence: sequence + 1 + index,
    timestamp: at.toISOString(),
  }));
}

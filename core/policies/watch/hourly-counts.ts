import type { WatchCounts } from '../../records/watch-state.ts';
import type { SightSpan } from '../../sight/count-sight.ts';
import { earlier } from '../../time.ts';

/** Counts of one hour, which begins at `hour` (UTC). */
export type HourlyCounts = { hour: string; counts: Partial<WatchCounts> };

const hourMs = 3_600_000;

/** Returns the counts of watched time and gaps, by hour. */
export function countByHour(spans: readonly SightSpan[]): HourlyCounts[] {
  return spans.flatMap(({ from, to, gap }) => {
    const name = gap === null ? 'watched_ms' : 'gap_ms';
    const hours: HourlyCounts[] = [];
    for (let at = from; at < to;) {
      const hour = toHour(at);
      const end = earlier(new Date(Date.parse(hour) + hourMs), to);
      hours.push({ hour, counts: { [name]: end.getTime() - at.getTime() } });
      at = end;
    }
    return hours;
  });
}

/** Returns the begin of the hour of `at`. */
export function toHour(at: Date): string {
  return new Date(Math.floor(at.getTime() / hourMs) * hourMs).toISOString();
}

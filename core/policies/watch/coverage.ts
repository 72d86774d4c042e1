import type { Schedule } from '../../records/watch.ts';
import type { WatchCounts, WatchState } from '../../records/watch-state.ts';
import { rules } from '../../rules.ts';
import { divideSight } from '../../tick/count-sight.ts';
import type { ActiveSpan, Sight, SightSpan } from '../../tick/count-sight.ts';
import { addSeconds, earlier } from '../../time.ts';
import { scheduleAt } from './schedule.ts';

/** Counts of one hour, which begins at `hour` (UTC). */
export type HourlyCounts = { hour: string; counts: Partial<WatchCounts> };

type Coverage = Pick<WatchState, 'counted_until' | 'in_gap'>;

const hourMs = 3_600_000;

/**
 * Counts the active time since the last count as watched or as a gap. Time off schedule is neither. After a downtime of days, each tick counts
 * `maxHoursPerTick`, the oldest first.
 */
export function countCoverage(
  { counted_until, in_gap }: Coverage,
  config: { interval_seconds: number; schedule: Schedule | null },
  { sight, isStretched = false }: { sight: Sight; isStretched?: boolean },
  now: Date,
): { coverage: Coverage; hours: HourlyCounts[] } {
  if (sight === 'unknown' || counted_until === null)
    return { coverage: { counted_until, in_gap }, hours: [] };
  const from = new Date(counted_until);
  const to = earlier(addSeconds(from, rules.maxHoursPerTick * 3600), now);
  const isPart = to < now;
  const spans = divideSight({
    active: listActive(config.schedule, from, to),
    inGap: in_gap,
    // A part that is counted does not end with this tick.
    sight: isPart ? 'service' : sight,
    intervalSeconds: config.interval_seconds,
    isStretched,
  });
  return {
    coverage: {
      counted_until: to.toISOString(),
      in_gap: isPart ? (in_gap ?? 'service') : sight === 'seen' ? null : sight,
    },
    hours: spans.flatMap(splitByHour),
  };
}

/** Returns the parts of a time that are on schedule. */
function listActive(schedule: Schedule | null, from: Date, to: Date): ActiveSpan[] {
  const spans: ActiveSpan[] = [];
  let at = from;
  while (at < to) {
    const { active, until } = scheduleAt(schedule, at);
    const end = until === null ? to : earlier(until, to);
    if (active) spans.push({ from: at, to: end });
    at = end;
  }
  return spans;
}

function splitByHour({ from, to, gap }: SightSpan): HourlyCounts[] {
  const name = gap === null ? 'watched_ms' : 'gap_ms';
  const hours: HourlyCounts[] = [];
  for (let at = from; at < to;) {
    const hour = toHour(at);
    const end = earlier(new Date(Date.parse(hour) + hourMs), to);
    hours.push({ hour, counts: { [name]: end.getTime() - at.getTime() } });
    at = end;
  }
  return hours;
}

/** Returns the begin of the hour of `at`. */
export function toHour(at: Date): string {
  return new Date(Math.floor(at.getTime() / hourMs) * hourMs).toISOString();
}

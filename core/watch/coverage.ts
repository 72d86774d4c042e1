import type { Schedule } from '../records/watch.ts';
import type { WatchCounts, WatchState } from '../records/watch-state.ts';
import { rules } from '../rules.ts';
import { addSeconds, earlier, later } from '../time.ts';
import { scheduleAt } from './schedule.ts';

/** Counts of one hour, which begins at `hour` (UTC). */
export type HourlyCounts = { hour: string; counts: Partial<WatchCounts> };

/** Sight of a tick: a repeated frame and a tick without a capture prove nothing. */
export type Sight = 'seen' | 'not_seen' | 'unknown';

type Coverage = Pick<WatchState, 'counted_until' | 'in_gap'>;
type Span = { from: Date; to: Date };

const hourMs = 3_600_000;

/** Counts the time since the last counted tick as watched or as a gap. Time off schedule is neither. */
export function countCoverage(
  { counted_until, in_gap }: Coverage,
  config: { interval_seconds: number; schedule: Schedule | null },
  sight: Sight,
  now: Date,
): { coverage: Coverage; hours: HourlyCounts[] } {
  if (sight === 'unknown') return { coverage: { counted_until, in_gap }, hours: [] };
  const coverage = { counted_until: now.toISOString(), in_gap: sight === 'not_seen' };
  if (counted_until === null) return { coverage, hours: [] };
  const from = new Date(counted_until);
  const maxMs = (rules.lateIntervals * config.interval_seconds + rules.lateAllowanceSeconds) * 1000;
  const isGap = in_gap || sight === 'not_seen' || now.getTime() - from.getTime() > maxMs;
  const spans = spansOnSchedule(config.schedule, from, now);
  return { coverage, hours: spans.flatMap((span) => splitByHour(span, isGap ? 'gap_ms' : 'watched_ms')) };
}

function spansOnSchedule(schedule: Schedule | null, from: Date, to: Date): Span[] {
  const spans: Span[] = [];
  let at = later(from, addSeconds(to, -rules.maxHoursPerTick * 3600));
  while (at < to) {
    const { active, until } = scheduleAt(schedule, at);
    const end = until === null ? to : earlier(until, to);
    if (active) spans.push({ from: at, to: end });
    at = end;
  }
  return spans;
}

function splitByHour({ from, to }: Span, kind: 'watched_ms' | 'gap_ms'): HourlyCounts[] {
  const hours: HourlyCounts[] = [];
  for (let at = from.getTime(); at < to.getTime();) {
    const hour = Math.floor(at / hourMs) * hourMs;
    const end = Math.min(hour + hourMs, to.getTime());
    hours.push({ hour: new Date(hour).toISOString(), counts: { [kind]: end - at } });
    at = end;
  }
  return hours;
}

/** Returns the begin of the hour of `at`. */
export function toHour(at: Date): string {
  return new Date(Math.floor(at.getTime() / hourMs) * hourMs).toISOString();
}

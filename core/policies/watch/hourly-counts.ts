import type { WatchCounts } from '../../records/watch-state.ts';
import type { WatchRun } from '../../records/run.ts';
import type { SeenAddition, Span } from '../../records/sight.ts';
import { countSight } from '../../sight/count-sight.ts';
import { classifySpans } from '../../sight/spans.ts';
import { addSeconds, earlier, floorHour } from '../../time.ts';
import { listActive } from './schedule.ts';

/** Counts of one hour, which begins at `hour` (UTC), and what the watch has seen in it. */
export type HourlyCounts = { hour: string; counts: Partial<WatchCounts>; seen?: SeenAddition };

/**
 * Returns the counts of watched time and gaps, by hour. `unjudged`: conditions that the model did not judge in it;
 * `sure`: shortest visit that was sure to be seen in it.
 */
export function countByHour(
  spans: readonly Span[],
  unjudged: readonly string[] = [],
  sure?: number,
): HourlyCounts[] {
  return spans.flatMap((span) => {
    const name = span.class === 'not_seen' ? 'gap_ms' : 'watched_ms';
    const isClaimed = span.class === 'judged' || span.class === 'quiet';
    const hours: HourlyCounts[] = [];
    for (let from = span.from; from < span.to;) {
      const hour = toHour(from);
      const to = earlier(addSeconds(new Date(hour), 3_600), span.to);
      const ms = to.getTime() - from.getTime();
      const conditions = isClaimed ? unjudged.map((id): [string, number] => [id, ms / 1000]) : [];
      const seen = { spans: [{ ...span, from, to }], unjudged: Object.fromEntries(conditions), sure };
      hours.push({ hour, counts: { [name]: ms }, seen });
      from = to;
    }
    return hours;
  });
}

/** Counts the time up to `now` under the configuration of a watch, as if the sight of its newest tick went on. */
export function countUntil({ config, sight: before }: WatchRun, now: Date) {
  const { interval_seconds: intervalSeconds, schedule } = config;
  const { sight, spans } = countSight(before, {
    seen: before.in_gap ?? 'seen',
    at: now,
    intervalSeconds,
    listActive: (from, to) => listActive(schedule, from, to),
  });
  return { sight, hours: countByHour(classifySpans(spans, null)) };
}

/** Returns the begin of the hour of `at`. */
export function toHour(at: Date): string {
  return floorHour(at).toISOString();
}

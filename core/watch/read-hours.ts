import type { HourOfWatch, WatchStore } from '../ports/runs.ts';
import { countUntil } from '../policies/watch/hourly-counts.ts';
import type { WatchRun } from '../records/run.ts';
import { extendHour } from '../sight/spans.ts';
import { earlier } from '../time.ts';
import { zeroWatchCounts } from './stored-watch.ts';

/**
 * Reads the hours of a watch from `from` to before `to`, with the gap of an exhausted budget up to now: no tick counts
 * it before the budget is renewed.
 */
export async function readHours(
  watch: WatchRun,
  from: Date,
  to: Date,
  { watches, now }: { watches: Pick<WatchStore, 'hours'>; now: () => Date },
): Promise<HourOfWatch[]> {
  const stored = from < to ? await watches.hours(watch.run_id, from, to) : [];
  if (!watch.state.causes.budget_exhausted) return stored;
  const hours = new Map(stored.map((each) => [each.hour, each]));
  for (const { hour, counts, seen } of countUntil(watch, earlier(to, now())).hours) {
    const { counts: before, seen: seenBefore } = hours.get(hour) ?? { counts: zeroWatchCounts };
    const gapMs = before.gap_ms + (counts.gap_ms ?? 0);
    const all = seen && extendHour(new Date(hour), seenBefore, seen);
    if (new Date(hour) >= from) hours.set(hour, { hour, counts: { ...before, gap_ms: gapMs }, seen: all });
  }
  return [...hours.values()];
}

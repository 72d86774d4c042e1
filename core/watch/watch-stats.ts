import type { z } from 'zod';
import { noSpanError } from '../errors.ts';
import { wilson } from '../evaluation/score.ts';
import type { HourOfWatch, ReviewedHour, WatchStore } from '../ports/runs.ts';
import type { Span } from '../records/sight.ts';
import type { Watch } from '../records/watch.ts';
import type { WatchCounts } from '../records/watch-state.ts';
import type { watchStatsResponseSchema } from '../responses/watches.ts';
import { readHour, sumSpans, extendHour } from '../sight/spans.ts';
import { addSeconds, later, floorHour, earlier } from '../time.ts';
import { requireOwnWatch, type WatchDeps } from './commit-watch.ts';
import { zeroWatchCounts } from './stored-watch.ts';
import { countUntil } from '../policies/watch/counts.ts';
import type { WatchRun } from '../records/run.ts';

export type WatchStats = z.input<typeof watchStatsResponseSchema>;

const daySeconds = 86_400;
const defaultSeconds = 7 * daySeconds;
const maxSeconds = 92 * daySeconds;
/** Hours of a week: those of three months would be a page of a megabyte. */
const maxHours = 168;
const maxHoursWithSpans = 24;

/** Reads the statistics of an own watch. Throws `WatchNotFoundError`. */
export async function readWatchStats(
  {
    watchId,
    from,
    to,
    spans = false,
  }: { watchId: string; from?: Date | undefined; to?: Date | undefined; spans?: boolean },
  caller: string,
  deps: Pick<WatchDeps, 'runs' | 'watches' | 'now'>,
): Promise<WatchStats> {
  const watch = await requireOwnWatch(watchId, caller, deps);
  // The default includes the current hour, also in its first millisecond.
  const end = to ?? new Date(deps.now().getTime() + 1);
  const start = later(from ?? addSeconds(end, -defaultSeconds), addSeconds(end, -maxSeconds));
  if (start >= end) throw noSpanError(start, end);
  const [hours, reviews] = await Promise.all([
    readHours(watch, floorHour(start), end, deps),
    deps.watches.reviewedHours(watchId, floorHour(start), end),
  ]);
  return presentStats(watch, { start, end, hours, reviews, spans });
}

type Found = { start: Date; end: Date; hours: HourOfWatch[]; reviews: ReviewedHour[]; spans: boolean };

/** Hour with its parts: they are decoded once. */
type ReadHour = HourOfWatch & { parts: Span[] };

function presentStats(
  { run_id: watch_id, config }: Watch,
  { start, end, hours: stored, reviews, spans }: Found,
): WatchStats {
  const hours = stored.map((hour) => ({ ...hour, parts: readHour(new Date(hour.hour), hour.seen) }));
  const byDay = Map.groupBy(hours, ({ hour }) => hour.slice(0, 10));
  const conditions = [...new Set([...config.conditions, ...reviews].map(({ condition_id: id }) => id))];
  return {
    watch_id,
    from: start.toISOString(),
    to: end.toISOString(),
    total: presentCounts(hours),
    days: [...byDay].map(([day, all]) => ({ day, ...presentCounts(all) })),
    hours: hours.slice(spans ? -maxHoursWithSpans : -maxHours).map((each) => ({
      hour: each.hour,
      ...presentCounts([each]),
      gaps: listGaps(each),
      ...(spans && { spans: listSpans(each) }),
    })),
    precision: conditions.map((id) =>
      presentPrecision(
        id,
        reviews.filter((hour) => hour.condition_id === id),
      ),
    ),
    weeks: [...Map.groupBy(reviews, ({ hour }) => weekStart(new Date(hour)))].flatMap(([week, inWeek]) =>
      [...Map.groupBy(inWeek, ({ condition_id: id }) => id)].map(([id, all]) => ({
        week,
        ...presentPrecision(id, all),
      })),
    ),
  };
}

/** Returns the date (UTC) of the Monday of the week of a time. */
function weekStart(time: Date): string {
  const daysSinceMonday = (time.getUTCDay() + 6) % 7;
  return new Date(time.getTime() - daysSinceMonday * 86_400_000).toISOString().slice(0, 10);
}

function sumCounts(hours: readonly HourOfWatch[]): WatchCounts {
  const sum: Record<string, number> = { ...zeroWatchCounts };
  for (const { counts } of hours) {
    for (const [name, value] of Object.entries(counts)) sum[name] = (sum[name] ?? 0) + value;
  }
  return { ...zeroWatchCounts, ...sum };
}

/** Returns the gaps of an hour, in time order. */
function listGaps({ parts }: ReadHour): WatchStats['hours'][number]['gaps'] {
  return parts.flatMap(({ from, to, reason }) =>
    reason === null ? [] : [{ from: from.toISOString(), to: to.toISOString(), reason }],
  );
}

function listSpans({ parts }: ReadHour) {
  return parts.map((span) => ({
    from: span.from.toISOString(),
    to: span.to.toISOString(),
    class: span.class,
  }));
}

/**
 * Sums the classes of the active time, in seconds. Their sum is the active time: what the spans do not have is between
 * pictures, of hours from before there were spans too.
 */
function presentSeen(hours: readonly ReadHour[], { watched_ms: watched, gap_ms: gap }: WatchCounts) {
  const sum = sumSpans(hours.flatMap(({ parts }) => parts));
  const active = (watched + gap) / 1000;
  const notSeen = Math.min(active, Math.max(gap / 1000, sum.not_seen));
  const judged = Math.min(active - notSeen, sum.judged);
  const quiet = Math.min(active - notSeen - judged, sum.quiet);
  const unjudged = sumBy(hours, 'unjudged');
  return {
    judged_seconds: round(judged),
    quiet_seconds: round(quiet),
    between_seconds: round(active - notSeen - judged - quiet),
    not_seen_seconds: round(notSeen),
    unjudged_seconds: Object.fromEntries([...unjudged].map(([id, seconds]) => [id, round(seconds)])),
  };
}

function sumBy(hours: readonly HourOfWatch[], name: 'unjudged' | 'unsure'): Map<string, number> {
  const sums = new Map<string, number>();
  for (const [id, value] of hours.flatMap(({ seen }) => Object.entries(seen?.[name] ?? {})))
    sums.set(id, (sums.get(id) ?? 0) + value);
  return sums;
}

function round(seconds: number): number {
  return Math.round(seconds * 1000) / 1000;
}

function presentCounts(hours: readonly ReadHour[]): WatchStats['total'] {
  const counts = sumCounts(hours);
  const { watched_ms: watched, gap_ms: gap, micro_usd: microUsd } = counts;
  return {
    checks: counts.checks,
    verdicts: counts.verdicts,
    not_judged: counts.not_judged,
    model_calls: counts.model_calls,
    model_failures: counts.model_failures,
    skipped: counts.skipped,
    failed_captures: counts.failed_captures,
    alerts_opened: counts.alerts_opened,
    alerts_closed: counts.alerts_closed,
    reminders: counts.reminders,
    input_tokens: counts.input_tokens,
    output_tokens: counts.output_tokens,
    usd: counts.unpriced_calls > 0 ? null : microUsd / 1_000_000,
    coverage: watched + gap === 0 ? null : watched / (watched + gap),
    ...presentSeen(hours, counts),
    unsure_sightings: Object.fromEntries(sumBy(hours, 'unsure')),
  };
}

function presentPrecision(
  conditionId: string,
  reviews: readonly ReviewedHour[],
): WatchStats['precision'][number] {
  const correct = reviews.reduce((sum, hour) => sum + hour.correct, 0);
  const reviewed = correct + reviews.reduce((sum, hour) => sum + hour.wrong, 0);
  const missed = reviews.reduce((sum, hour) => sum + hour.missed, 0);
  const precision = wilson(correct, reviewed);
  // Without a known miss, nothing is known of what was missed.
  const recall = missed === 0 ? null : wilson(correct, correct + missed);
  return {
    condition_id: conditionId,
    reviewed,
    correct,
    precision: precision && precision.value,
    interval: precision && { from: precision.low, to: precision.high },
    missed,
    recall: recall && recall.value,
    recall_interval: recall && { from: recall.low, to: recall.high },
  };
}

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

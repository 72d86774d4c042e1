import type { z } from 'zod';
import { wilson } from '../evaluation/score.ts';
import type { HourOfWatch, ReviewedWeek } from '../ports/watch-store.ts';
import type { Watch } from '../records/watch.ts';
import type { WatchCounts } from '../records/watch-state.ts';
import type { watchStatsResponseSchema } from '../responses/watches.ts';
import { addSeconds, later } from '../time.ts';
import { requireOwnWatch } from './commit-watch.ts';
import { zeroWatchCounts } from './stored-watch.ts';
import type { WatchDeps } from './watch-deps.ts';

export type WatchStats = z.input<typeof watchStatsResponseSchema>;

const daySeconds = 86_400;
const defaultSeconds = 7 * daySeconds;
const maxSeconds = 92 * daySeconds;
/** Hours of a week: those of three months would be a page of a megabyte. */
const maxHours = 168;

/** Reads the statistics of an own watch. Throws `WatchNotFoundError`. */
export async function readWatchStats(
  { watchId, from, to }: { watchId: string; from: Date | undefined; to: Date | undefined },
  caller: string,
  deps: Pick<WatchDeps, 'runs' | 'watches' | 'now'>,
): Promise<WatchStats> {
  const watch = await requireOwnWatch(watchId, caller, deps);
  // The default includes the current hour, also in its first millisecond.
  const end = to ?? new Date(deps.now().getTime() + 1);
  const start = later(from ?? addSeconds(end, -defaultSeconds), addSeconds(end, -maxSeconds));
  const [hours, weeks] = await Promise.all([
    deps.watches.hours(watchId, floorHour(start), end),
    // Stores compare dates: the day of the last moment is included, so that a week counts on its Monday.
    deps.watches.reviewedWeeks(
      watchId,
      addSeconds(start, -defaultSeconds),
      addSeconds(end, daySeconds - 0.001),
    ),
  ]);
  return presentStats(watch, { start, end, hours, weeks });
}

function floorHour(at: Date): Date {
  return new Date(Math.floor(at.getTime() / 3_600_000) * 3_600_000);
}

type Found = { start: Date; end: Date; hours: HourOfWatch[]; weeks: ReviewedWeek[] };

function presentStats({ run_id: watch_id, config }: Watch, { start, end, hours, weeks }: Found): WatchStats {
  const byDay = Map.groupBy(hours, ({ hour }) => hour.slice(0, 10));
  const conditions = [...new Set([...config.conditions, ...weeks].map(({ condition_id: id }) => id))];
  return {
    watch_id,
    from: start.toISOString(),
    to: end.toISOString(),
    total: presentCounts(sumCounts(hours)),
    days: [...byDay].map(([day, all]) => ({ day, ...presentCounts(sumCounts(all)) })),
    hours: hours.slice(-maxHours).map(({ hour, counts }) => ({ hour, ...presentCounts(counts) })),
    precision: conditions.map((id) =>
      presentPrecision(
        id,
        weeks.filter((week) => week.condition_id === id),
      ),
    ),
    weeks: weeks.map((week) => ({ week: week.week, ...presentPrecision(week.condition_id, [week]) })),
  };
}

function sumCounts(hours: readonly HourOfWatch[]): WatchCounts {
  const sum: Record<string, number> = { ...zeroWatchCounts };
  for (const { counts } of hours) {
    for (const [name, value] of Object.entries(counts)) sum[name] = (sum[name] ?? 0) + value;
  }
  return { ...zeroWatchCounts, ...sum };
}

function presentCounts(counts: WatchCounts): WatchStats['total'] {
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
    usd: microUsd / 1_000_000,
    coverage: watched + gap === 0 ? null : watched / (watched + gap),
  };
}

function presentPrecision(
  conditionId: string,
  weeks: readonly Pick<ReviewedWeek, 'correct' | 'wrong'>[],
): WatchStats['precision'][number] {
  const correct = weeks.reduce((sum, week) => sum + week.correct, 0);
  const reviewed = correct + weeks.reduce((sum, week) => sum + week.wrong, 0);
  const precision = wilson(correct, reviewed);
  return {
    condition_id: conditionId,
    reviewed,
    correct,
    precision: precision && precision.value,
    interval: precision && { from: precision.low, to: precision.high },
  };
}

import type { RunChange } from '../ports/runs.ts';
import type { Alert, AlertChange, WatchCounts, WatchStatus } from '../records/watch-state.ts';
import type { SeenAddition } from '../records/sight.ts';
import type { WatchRun } from '../records/run.ts';
import type { WatchDeps } from './commit-watch.ts';

/** Rules that both stores of watches apply in their transactions. */

export function changeAlert(alert: Alert, change: Exclude<AlertChange, { kind: 'open' }>): Alert {
  switch (change.kind) {
    case 'remind':
      return { ...alert, reminders: alert.reminders + 1 };
    case 'acknowledge':
      return { ...alert, acknowledged: change.acknowledged };
    case 'clip':
      return { ...alert, clip: change.clip };
    case 'close':
      return { ...alert, closed: change.closed, expires_at: change.expiresAt };
  }
}

/** Counts of an hour without ticks. */
export const zeroWatchCounts: WatchCounts = {
  ticks: 0,
  verdicts: 0,
  not_judged: 0,
  checks: 0,
  model_calls: 0,
  model_failures: 0,
  skipped: 0,
  frozen: 0,
  black: 0,
  stale: 0,
  failed_captures: 0,
  alerts_opened: 0,
  alerts_closed: 0,
  reminders: 0,
  input_tokens: 0,
  output_tokens: 0,
  micro_usd: 0,
  unpriced_calls: 0,
  watched_ms: 0,
  gap_ms: 0,
};

/** Returns the counts that are not zero: only these are stored. */
function nonZero(counts: Partial<WatchCounts>): [name: string, value: number][] {
  return Object.entries(counts).filter(([, value]) => value !== 0);
}

/** Additions of a commit to one hour; `seen` is undefined if it counts no time. */
type HourAddition = { hour: string; counts: [name: string, value: number][]; seen: SeenAddition | undefined };

/**
 * Sums the additions of a commit by hour. A commit may add to one hour several times; a transaction of DynamoDB writes
 * an item once.
 */
export function sumByHour(hours: RunChange['hours'] = []): HourAddition[] {
  const byHour = Map.groupBy(hours, ({ hour }) => hour);
  return [...byHour].map(([hour, additions]) => ({
    hour,
    counts: [...sumValues(additions.map(({ counts }) => nonZero(counts)))],
    seen: joinSeen(additions.flatMap(({ seen }) => seen ?? [])),
  }));
}

function joinSeen(additions: readonly SeenAddition[]): SeenAddition | undefined {
  if (additions.length === 0) return undefined;
  const unsure = sumValues(additions.map((addition) => Object.entries(addition.unsure ?? {})));
  const sure = Math.max(...additions.map((addition) => addition.sure ?? 0));
  return {
    spans: additions.flatMap(({ spans }) => spans),
    unjudged: Object.fromEntries(sumValues(additions.map(({ unjudged }) => Object.entries(unjudged)))),
    ...(unsure.size > 0 && { unsure: Object.fromEntries(unsure) }),
    ...(sure > 0 && { sure }),
  };
}

function sumValues(all: readonly (readonly [name: string, value: number][])[]): Map<string, number> {
  const sums = new Map<string, number>();
  for (const [name, value] of all.flat()) sums.set(name, (sums.get(name) ?? 0) + value);
  return sums;
}

/** Returns the change of the reviewed numbers of a week, if `review` replaces the review of the alert. */
export function reviewDelta(
  alert: Pick<Alert, 'review'>,
  review: NonNullable<Alert['review']>,
): { correct: number; wrong: number } {
  const before = countReview(alert.review);
  const after = countReview(review);
  return { correct: after.correct - before.correct, wrong: after.wrong - before.wrong };
}

function countReview(review: Alert['review']): { correct: number; wrong: number } {
  return { correct: review?.correct === true ? 1 : 0, wrong: review?.correct === false ? 1 : 0 };
}

type Query = {
  status?: WatchStatus | undefined;
  label?: string | undefined;
  limit: number;
  offset: number;
};

/** Returns a page of a caller's watches. All are read: a caller has few. */
export async function listWatches(
  { status, label, limit, offset }: Query,
  caller: string,
  { watches }: Pick<WatchDeps, 'watches'>,
): Promise<{ watches: WatchRun[]; total: number }> {
  const matching = (await watches.list(caller)).filter(
    (watch) =>
      (status === undefined || watch.status === status) &&
      (label === undefined || watch.config.labels.includes(label)),
  );
  return { watches: matching.slice(offset, offset + limit), total: matching.length };
}

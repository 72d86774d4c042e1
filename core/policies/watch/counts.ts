import type { WatchCounts, ConditionState } from '../../records/watch-state.ts';
import type { WatchRun } from '../../records/run.ts';
import type { SeenAddition, Span } from '../../records/sight.ts';
import { countSight } from '../../sight/count-sight.ts';
import { classifySpans } from '../../sight/spans.ts';
import { addSeconds, earlier, floorHour } from '../../time.ts';
import { listActive } from './schedule.ts';
import type { CallerUse } from '../../records/caller.ts';
import { isUnjudgeable } from './condition.ts';
import type { WatchOutcome } from './outcome.ts';

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

/** Returns the begin of the hour of `time`. */
export function toHour(time: Date): string {
  return floorHour(time).toISOString();
}

export type AlertCounts = { opened: number; closed: number; reminders: number };

/** Returns the counts of a tick, in the hour of its commit. `conditions`: their states after it. */
export function countTick(
  outcome: WatchOutcome,
  { opened, closed, reminders }: AlertCounts,
  conditions: readonly ConditionState[],
  now: Date,
): HourlyCounts[] {
  const counts: Partial<WatchCounts> = {
    ticks: 1,
    alerts_opened: opened,
    alerts_closed: closed,
    reminders,
    ...outcomeCounts(outcome),
  };
  const unsure = listUnsure(outcome, conditions);
  const seen = { spans: [], unjudged: {}, unsure: Object.fromEntries(unsure.map((id) => [id, 1])) };
  return [{ hour: toHour(now), counts, ...(unsure.length > 0 && { seen }) }];
}

/** Lists the conditions that a check was not sure of. */
export function listUnsure(outcome: WatchOutcome, conditions: readonly ConditionState[]): string[] {
  return conditions.flatMap((state) => (isUnsure(outcome, state) ? [state.condition_id] : []));
}

/**
 * Returns true if a check did not see a condition hold, but may have: by a verdict of the model, or because it gave
 * none to one that it can judge.
 */
function isUnsure(outcome: WatchOutcome, state: ConditionState): boolean {
  if (outcome.kind !== 'judged') return false;
  const answers = [...outcome.earlier.flatMap((moment) => moment.answers), ...outcome.answers].filter(
    ({ condition_id: id }) => id === state.condition_id,
  );
  if (answers.some(({ verdict }) => verdict?.triggered)) return false;
  return answers.some(
    ({ verdict, unjudgedReason }) =>
      verdict?.unsure || (unjudgedReason !== undefined && !isUnjudgeable(state)),
  );
}

function outcomeCounts(outcome: WatchOutcome): Partial<WatchCounts> {
  switch (outcome.kind) {
    case 'judged': {
      const { used } = outcome;
      const answers = [...outcome.earlier.flatMap((moment) => moment.answers), ...outcome.answers];
      const verdicts = answers.filter(({ verdict }) => verdict !== null).length;
      return {
        verdicts,
        not_judged: answers.length - verdicts,
        checks: verdicts > 0 ? 1 : 0,
        ...countUse(used),
      };
    }
    case 'skipped':
      return {
        skipped: 1,
        frozen: outcome.why === 'frozen' ? 1 : 0,
        black: outcome.why === 'black' ? 1 : 0,
      };
    case 'stale':
      return { stale: 1 };
    case 'capture_failed':
    case 'unavailable':
      return { failed_captures: 1 };
    case 'no_capture':
      return outcome.used ? countUse(outcome.used) : {};
    case 'ended':
    case 'not_asked':
      return {};
  }
}

function countUse(used: CallerUse): Partial<WatchCounts> {
  const { model_errors: model_failures, ...others } = used;
  return { model_failures, ...others };
}

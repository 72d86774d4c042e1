import type { Gap, JobEvent } from '../api/types.ts';
import { areDigestEvents } from './job-labels.ts';

/** Outcome of a column of ticks: the one with the highest rank. */
export type CheckOutcome = 'alert' | 'held' | 'no' | 'sampled' | 'skipped' | 'unanswered' | 'away';

/** Column of the chart. `at` is in epoch milliseconds, `motion` 0 to 1 or `null` if unknown. */
export type Column = { at: number; motion: number | null; outcome: CheckOutcome; checks: number };
/** Coverage gap on the chart, in epoch milliseconds. */
export type Band = { from: number; to: number; reason: Gap['reason'] };
/** Data of the chart; `from` and `to` are in epoch milliseconds. */
export type ActivityData = { from: number; to: number; columns: Column[]; bands: Band[] };

const rank: CheckOutcome[] = ['skipped', 'sampled', 'no', 'unanswered', 'away', 'held', 'alert'];

/**
 * Groups ticks into at most `columnsAtMost` columns along a time axis. A column has the maximum motion of its ticks and
 * the outcome with the highest rank. Times are in milliseconds.
 */
export function activityData(
  events: JobEvent[],
  gaps: Gap[],
  span: { from: number; to: number },
  columnsAtMost: number,
): ActivityData {
  const length = Math.max(span.to - span.from, 1);
  const columns = new Map<number, Column>();
  const alerts = alertTimes(events);
  const ofDigest = areDigestEvents(events);
  for (const event of events) {
    if (event.type !== 'progress') continue;
    const tick = { ...toColumn(event, ofDigest), at: Date.parse(event.timestamp) };
    if (alerts.has(event.timestamp)) tick.outcome = 'alert';
    const place = Math.floor(((tick.at - span.from) / length) * columnsAtMost);
    const before = columns.get(place);
    columns.set(place, before ? merged(before, tick) : tick);
  }
  const bands = gaps.map(({ from, to, reason }) => ({ from: Date.parse(from), to: Date.parse(to), reason }));
  return { ...span, columns: [...columns.values()], bands };
}

/** Returns the timestamps of alerts. A tick commits its alert and its progress event together, with one timestamp. */
function alertTimes(events: JobEvent[]): Set<string> {
  return new Set(events.flatMap((event) => (event.type === 'watch_triggered' ? [event.timestamp] : [])));
}

function toColumn({ data }: Extract<JobEvent, { type: 'progress' }>, ofDigest: boolean): Omit<Column, 'at'> {
  // The first capture has no motion reference; the API reports it as completely changed.
  const motion = data.check === 1 ? null : data.motion;
  return { motion, outcome: toOutcome(data, ofDigest), checks: 1 };
}

function toOutcome(data: Extract<JobEvent, { type: 'progress' }>['data'], ofDigest: boolean): CheckOutcome {
  if (data.stream !== 'ok') return 'away';
  if (data.prefilter_skipped) return 'skipped';
  if (data.judged === false) return 'unanswered';
  if (data.triggered === null) return withoutVerdict(data, ofDigest);
  return data.triggered ? 'held' : 'no';
}

/** Returns the outcome of a tick without a verdict. A digest samples frames for a summary and has no verdicts. */
function withoutVerdict({ picture }: { picture: string | null }, ofDigest: boolean): CheckOutcome {
  if (picture !== 'ok') return 'away';
  return ofDigest ? 'sampled' : 'unanswered';
}

function merged(a: Column, b: Column): Column {
  return {
    at: a.at,
    motion: a.motion === null || b.motion === null ? (a.motion ?? b.motion) : Math.max(a.motion, b.motion),
    outcome: rank.indexOf(a.outcome) > rank.indexOf(b.outcome) ? a.outcome : b.outcome,
    checks: a.checks + b.checks,
  };
}

/** Returns at most `atMost` round times for the labels of the axis, in milliseconds. */
export function axisTimes(from: number, to: number, atMost: number): number[] {
  const steps = [5, 10, 30, 60, 120, 300, 600, 1800, 3600, 7200, 21_600].map((seconds) => seconds * 1000);
  const step = steps.find((each) => (to - from) / each <= Math.max(atMost - 1, 1)) ?? 21_600_000;
  const first = Math.ceil(from / step) * step;
  return Array.from(
    { length: Math.max(0, Math.floor((to - first) / step) + 1) },
    (_, index) => first + index * step,
  );
}

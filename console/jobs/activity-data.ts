import type { Gap, JobEvent } from '../api/types.ts';
import { isOfDigest } from './job-words.ts';

/** How a span of ticks came out; the one that matters most stands for all of them. */
export type Outcome = 'alert' | 'held' | 'no' | 'sampled' | 'skipped' | 'unanswered' | 'away';

export type Column = { at: number; motion: number | null; outcome: Outcome; checks: number };
export type Band = { from: number; to: number; reason: Gap['reason'] };
export type ActivityData = { from: number; to: number; columns: Column[]; bands: Band[] };

const rank: Outcome[] = ['skipped', 'sampled', 'no', 'unanswered', 'away', 'held', 'alert'];

/**
 * Ticks along a time axis, at most `columnsAtMost`: neighbours share a column, which has the greatest motion of them and the
 * outcome that matters most. Times in milliseconds.
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
  const ofDigest = isOfDigest(events);
  for (const event of events) {
    if (event.type !== 'progress') continue;
    const tick = { ...columnOf(event, ofDigest), at: Date.parse(event.timestamp) };
    if (alerts.has(event.timestamp)) tick.outcome = 'alert';
    const place = Math.floor(((tick.at - span.from) / length) * columnsAtMost);
    const before = columns.get(place);
    columns.set(place, before ? merged(before, tick) : tick);
  }
  const bands = gaps.map(({ from, to, reason }) => ({ from: Date.parse(from), to: Date.parse(to), reason }));
  return { ...span, columns: [...columns.values()], bands };
}

/** The alert of a tick is committed with its progress, so both have one time. */
function alertTimes(events: JobEvent[]): Set<string> {
  return new Set(events.flatMap((event) => (event.type === 'watch_triggered' ? [event.timestamp] : [])));
}

function columnOf({ data }: Extract<JobEvent, { type: 'progress' }>, ofDigest: boolean): Omit<Column, 'at'> {
  // The first picture has nothing to be compared with; the API then says that all of it changed.
  const motion = data.check === 1 ? null : data.motion;
  return { motion, outcome: outcomeOf(data, ofDigest), checks: 1 };
}

function outcomeOf(data: Extract<JobEvent, { type: 'progress' }>['data'], ofDigest: boolean): Outcome {
  if (data.stream !== 'ok') return 'away';
  if (data.prefilter_skipped) return 'skipped';
  if (data.triggered === null) return withoutVerdict(data, ofDigest);
  return data.triggered ? 'held' : 'no';
}

/** A digest gives no verdicts: its pictures go into a summary. */
function withoutVerdict({ picture }: { picture: string | null }, ofDigest: boolean): Outcome {
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

/** Round moments of the axis, at most so many. */
export function axisTimes(from: number, to: number, atMost: number): number[] {
  const steps = [5, 10, 30, 60, 120, 300, 600, 1800, 3600, 7200, 21_600].map((seconds) => seconds * 1000);
  const step = steps.find((each) => (to - from) / each <= Math.max(atMost - 1, 1)) ?? 21_600_000;
  const first = Math.ceil(from / step) * step;
  return Array.from(
    { length: Math.max(0, Math.floor((to - first) / step) + 1) },
    (_, index) => first + index * step,
  );
}

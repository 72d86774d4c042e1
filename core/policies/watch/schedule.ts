import { Temporal } from 'temporal-polyfill';
import type { Schedule } from '../../records/watch.ts';
import { setBounded } from '../../set-bounded.ts';
import type { ActiveSpan } from '../../sight/count-sight.ts';
import { earlier } from '../../time.ts';

/** Schedule at one instant: active or not, and the next change; `null` without one. */
export type ScheduleAt = { active: boolean; until: Date | null };

type Span = { start: number; end: number };

const weekdays = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const;

/** A span begins at most two days before it ends, and each weekday repeats within a week. */
const daysBefore = 2;
const daysAfter = 9;

/** Newest result of each schedule, because ticks read the same span for hours. */
const results = new WeakMap<Schedule, ScheduleAt & { from: Date }>();

/** Returns the schedule at `now`. Without a schedule a watch is always active. */
export function scheduleAt(schedule: Schedule | null, now: Date): ScheduleAt {
  if (schedule === null) return { active: true, until: null };
  const cached = results.get(schedule);
  if (cached && cached.until && cached.from <= now && now < cached.until) return cached;
  const result = computeScheduleAt(schedule, now);
  results.set(schedule, { ...result, from: now });
  return result;
}

/** Returns the parts of a time that are on schedule. Time off schedule is neither watched nor a gap. */
export function listActive(schedule: Schedule | null, from: Date, to: Date): ActiveSpan[] {
  const spans: ActiveSpan[] = [];
  let begin = from;
  while (begin < to) {
    const { active, until } = scheduleAt(schedule, begin);
    const end = until === null ? to : earlier(until, to);
    if (active) spans.push({ from: begin, to: end });
    begin = end;
  }
  return spans;
}

function computeScheduleAt(schedule: Schedule, now: Date): ScheduleAt {
  const spans = mergeAdjacent(listSpans(schedule, now));
  const nowMs = now.getTime();
  const current = spans.find(({ start, end }) => start <= nowMs && nowMs < end);
  // The last span may continue beyond the days that were listed.
  if (current) return { active: true, until: current === spans.at(-1) ? null : new Date(current.end) };
  const next = spans.find(({ start }) => start > nowMs);
  return { active: false, until: next ? new Date(next.start) : null };
}

/** Local day of a budget: its date, as `2026-03-29`, and the begin of the next day. */
export type LocalDay = { date: string; end: Date };

const newestDays = new Map<string, LocalDay & { from: Date }>();
/** Maximum days. There are 600 time zones, but names differ in case, so that callers could fill the memory. */
const maxDays = 1000;

export function localDay(timeZone: string, now: Date): LocalDay {
  const cached = newestDays.get(timeZone);
  if (cached && cached.from <= now && now < cached.end) return cached;
  const today = zoned(timeZone, now).toPlainDate();
  const end = new Date(toInstant(today.add({ days: 1 }), '00:00', timeZone, 'earlier'));
  setBounded(newestDays, timeZone, { date: today.toString(), end, from: now }, maxDays);
  return { date: today.toString(), end };
}

function zoned(timeZone: string, now: Date): Temporal.ZonedDateTime {
  return Temporal.Instant.fromEpochMilliseconds(now.getTime()).toZonedDateTimeISO(timeZone);
}

function listSpans({ time_zone: zone, active }: Schedule, now: Date): Span[] {
  const today = zoned(zone, now).toPlainDate();
  const spans: Span[] = [];
  for (let offset = -daysBefore; offset <= daysAfter; offset += 1) {
    const date = today.add({ days: offset });
    const weekday = weekdays[date.dayOfWeek - 1];
    for (const { days, from, to } of active) {
      if (weekday === undefined || !days.includes(weekday)) continue;
      const lastDate = to <= from ? date.add({ days: 1 }) : date;
      const start = toInstant(date, from, zone, 'earlier');
      const end = toInstant(lastDate, to, zone, 'later');
      if (start < end) spans.push({ start, end });
    }
  }
  return spans.toSorted((a, b) => a.start - b.start);
}

/**
 * Returns the instant of a local time. A repeated time is the earlier or the later of both; a time that does not exist
 * is the first instant after the gap.
 */
function toInstant(
  date: Temporal.PlainDate,
  time: string,
  timeZone: string,
  disambiguation: 'earlier' | 'later',
): number {
  const isEndOfDay = time === '24:00';
  const local = (isEndOfDay ? date.add({ days: 1 }) : date).toPlainDateTime(isEndOfDay ? '00:00' : time);
  const first = local.toZonedDateTime(timeZone, { disambiguation: 'earlier' });
  const later = local.toZonedDateTime(timeZone, { disambiguation: 'later' });
  const exists = first.toPlainDateTime().equals(local);
  if (exists) return (disambiguation === 'earlier' ? first : later).epochMilliseconds;
  // In a gap `first` is before the change of the clock, and `later` after it.
  return first.getTimeZoneTransition('next')?.epochMilliseconds ?? later.epochMilliseconds;
}

function mergeAdjacent(sorted: readonly Span[]): Span[] {
  const merged: Span[] = [];
  for (const span of sorted) {
    const last = merged.at(-1);
    if (last && span.start <= last.end) last.end = Math.max(last.end, span.end);
    else merged.push({ ...span });
  }
  return merged;
}

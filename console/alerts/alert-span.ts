/**
 * Span of the filter as its inputs state it: a date and two times of day, such as `2026-11-27` and `20:00`; empty for
 * no bound.
 */
export type SpanDraft = { day: string; from: string; to: string };

/** Span of time; absent for no bound. */
export type TimeSpan = { from: Date; to: Date } | undefined;

/**
 * Returns the span in the time zone of the browser. Without a day it is the newest one that has begun at `now` (epoch
 * milliseconds). An end that is not after the start is on the next day.
 */
export function toSpan({ day, from, to }: SpanDraft, now: number): TimeSpan {
  if (day === '' && from === '' && to === '') return undefined;
  const date = day === '' ? new Date(now) : new Date(`${day}T00:00`);
  const start = atTime(date, from || '00:00');
  if (day === '' && start.getTime() > now) start.setDate(start.getDate() - 1);
  const end = atTime(start, to || '24:00');
  if (end <= start) end.setDate(end.getDate() + 1);
  return { from: start, to: end };
}

function atTime(date: Date, time: string): Date {
  const [hours = 0, minutes = 0] = time.split(':').map(Number);
  const moment = new Date(date);
  moment.setHours(hours, minutes, 0, 0);
  return moment;
}

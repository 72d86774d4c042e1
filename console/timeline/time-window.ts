/** Window of a time line, in epoch milliseconds. */
export type TimeWindow = { startMs: number; lengthMs: number };

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;

/** Lengths of a window, from the whole to the detail, as values of a control. */
export const windowLengths = [
  { value: 'day', label: 'Day', ms: 24 * hourMs },
  { value: 'hour', label: 'Hour', ms: hourMs },
  { value: 'minutes', label: '10 min', ms: 10 * minuteMs },
] as const;
export type WindowLength = (typeof windowLengths)[number]['value'];

/** Returns the day that ends with the current hour. */
export function newestDay(now: number): TimeWindow {
  return { startMs: (Math.floor(now / hourMs) + 1) * hourMs - 24 * hourMs, lengthMs: 24 * hourMs };
}

/** Returns the day of a date, such as `2026-11-27`, in the time zone of the browser. */
export function dayOf(date: string): TimeWindow {
  return { startMs: new Date(`${date}T00:00`).getTime(), lengthMs: 24 * hourMs };
}

/**
 * Returns a window of another length around a time: whole hours of an hour, whole ten minutes of ten minutes, and a day
 * that has the time in its middle.
 */
export function zoomTo(length: WindowLength, atMs: number, now: number): TimeWindow {
  const lengthMs = windowLengths.find(({ value }) => value === length)?.ms ?? hourMs;
  if (length !== 'day') return { startMs: Math.floor(atMs / lengthMs) * lengthMs, lengthMs };
  const newest = newestDay(now);
  const around = Math.floor((atMs - lengthMs / 2) / hourMs) * hourMs;
  return { startMs: Math.min(newest.startMs, around), lengthMs };
}

export function lengthOf({ lengthMs }: TimeWindow): WindowLength {
  return windowLengths.find(({ ms }) => ms === lengthMs)?.value ?? 'day';
}

/** Part of the width by which an arrow key moves. */
export const stepShare = 1 / 240;

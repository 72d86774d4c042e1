import { useEffect, useState } from 'preact/hooks';

/** Formats times in the time zone and language of the browser. */

export const timeZone = new Intl.DateTimeFormat().resolvedOptions().timeZone;

const exactFormat = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'long' });
const clockFormat = new Intl.DateTimeFormat(undefined, { timeStyle: 'medium' });
const dayFormat = new Intl.DateTimeFormat(undefined, { weekday: 'short', month: 'short', day: 'numeric' });
const relativeFormat = new Intl.RelativeTimeFormat(undefined, { numeric: 'auto', style: 'short' });

/** Returns date, time with seconds, and zone. */
export function exactTime(iso: string): string {
  return exactFormat.format(new Date(iso));
}

/** Returns the time of day with seconds. `iso` is ISO 8601 or epoch milliseconds. */
export function clockTime(iso: string | number): string {
  return clockFormat.format(new Date(iso));
}

const shortFormat = new Intl.DateTimeFormat(undefined, { timeStyle: 'short' });

/** Returns the time of day without seconds. */
export function shortTime(time: Date | number): string {
  return shortFormat.format(time);
}

export function dayText(time: Date): string {
  return dayFormat.format(time);
}

/**
 * Returns a time as people say it at `now` (epoch milliseconds): a future one counts down, a past one is the time of
 * day, with the day if it is another one.
 */
export function spokenTime(iso: string, now: number): string {
  const time = new Date(iso);
  const seconds = (time.getTime() - now) / 1000;
  if (seconds <= 0)
    return time.toDateString() === new Date(now).toDateString()
      ? clockTime(iso)
      : `${dayText(time)}, ${clockTime(iso)}`;
  if (seconds < 60) return relativeFormat.format(Math.round(seconds), 'second');
  if (seconds < 3600) return relativeFormat.format(Math.round(seconds / 60), 'minute');
  return seconds < 86_400 ? relativeFormat.format(Math.round(seconds / 3600), 'hour') : dayText(time);
}

/** Returns a duration as text: "45 s", "10 min", "1 h 20 min". */
export function duration(seconds: number): string {
  const whole = Math.round(seconds);
  if (whole < 120) return `${whole} s`;
  const minutes = Math.round(whole / 60);
  if (minutes < 60) return `${minutes} min`;
  const rest = minutes % 60;
  return rest === 0 ? `${Math.floor(minutes / 60)} h` : `${Math.floor(minutes / 60)} h ${rest} min`;
}

/** Returns a latency as text: "850 ms", "1.2 s". */
export function milliseconds(ms: number): string {
  return ms < 1000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(1)} s`;
}

/** Returns the current time in epoch milliseconds, updated every `everyMs`. */
export function useNow(everyMs: number): number {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), everyMs);
    return () => clearInterval(timer);
  }, [everyMs]);
  return now;
}

/** Returns count and noun: "1 check", "12 checks". */
export function pluralize(count: number, one: string, many = `${one}s`): string {
  return `${count.toLocaleString()} ${count === 1 ? one : many}`;
}

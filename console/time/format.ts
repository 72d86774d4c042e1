import { useEffect, useState } from 'preact/hooks';

/** Formats times in the time zone and language of the browser. */

const exactFormat = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'long' });
const clockFormat = new Intl.DateTimeFormat(undefined, { timeStyle: 'medium' });
const dayFormat = new Intl.DateTimeFormat(undefined, { month: 'short', day: 'numeric' });
const relativeFormat = new Intl.RelativeTimeFormat(undefined, { numeric: 'auto', style: 'short' });

/** Returns date, time with seconds, and zone. */
export function exactTime(iso: string): string {
  return exactFormat.format(new Date(iso));
}

/** Returns the time of day with seconds. `iso` is ISO 8601 or epoch milliseconds. */
export function clockTime(iso: string | number): string {
  return clockFormat.format(new Date(iso));
}

/** Returns a time relative to `now` (epoch milliseconds), or the date if it is more than 14 days away. */
export function relativeTime(iso: string, now: number): string {
  const seconds = (Date.parse(iso) - now) / 1000;
  const distance = Math.abs(seconds);
  // Future times count down; times less than 5 s ago are "now".
  if (seconds <= 0 && distance < 5) return relativeFormat.format(0, 'second');
  if (distance < 60) return relativeFormat.format(Math.round(seconds), 'second');
  if (distance < 3600) return relativeFormat.format(Math.round(seconds / 60), 'minute');
  if (distance < 86_400) return relativeFormat.format(Math.round(seconds / 3600), 'hour');
  if (distance < 14 * 86_400) return relativeFormat.format(Math.round(seconds / 86_400), 'day');
  return dayFormat.format(new Date(iso));
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

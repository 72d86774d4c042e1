import type { PlainConfig } from './plain.ts';

/** Local time by search: it formats every minute and compares texts. */

const minute = 60_000;
const weekdayNames = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];

const formats = new Map<string, Intl.DateTimeFormat>();

/** Returns local date and time as `2026-03-29 02:30`. */
export function localText(zone: string, at: number): string {
  const known = formats.get(zone);
  const format =
    known ??
    new Intl.DateTimeFormat('sv-SE', {
      timeZone: zone,
      year: 'numeric',
      month: '2-digit',
      day: '2-digit',
      hour: '2-digit',
      minute: '2-digit',
    });
  if (!known) formats.set(zone, format);
  return format.format(at);
}

const dates = new Map<string, string>();

export function localDate(zone: string, at: number): string {
  const quarter = Math.floor(at / (15 * minute));
  const key = `${zone} ${quarter}`;
  const known = dates.get(key);
  if (known !== undefined) return known;
  const date = localText(zone, at).slice(0, 10);
  if (dates.size > 50_000) dates.clear();
  dates.set(key, date);
  return date;
}

const instants = new Map<string, number>();

/**
 * Returns the first or last instant with this local time; of a time that does not exist, the first instant after it.
 */
export function findInstant(zone: string, date: string, time: string, which: 'first' | 'last'): number {
  const wanted = time === '24:00' ? `${addDays(date, 1)} 00:00` : `${date} ${time}`;
  const key = `${zone} ${wanted} ${which}`;
  const known = instants.get(key);
  if (known !== undefined) return known;
  const middle = Date.parse(`${wanted.replace(' ', 'T')}:00Z`);
  let first: number | undefined;
  let last: number | undefined;
  let after: number | undefined;
  for (let at = middle - 15 * 60 * minute; at <= middle + 15 * 60 * minute; at += minute) {
    const text = localText(zone, at);
    if (text === wanted) {
      first ??= at;
      last = at;
    }
    if (text > wanted) after ??= at;
  }
  const found = (which === 'first' ? first : last) ?? after!;
  instants.set(key, found);
  return found;
}

const spansOfDay = new WeakMap<object, Map<string, [number, number][]>>();

/** Returns the merged spans from three days before to ten days after `now`. */
export function spansOnSchedule({ schedule, zone }: PlainConfig, now: number): [number, number][] {
  if (schedule === null) return [];
  const today = localDate(zone, now);
  const cache = spansOfDay.get(schedule) ?? new Map<string, [number, number][]>();
  spansOfDay.set(schedule, cache);
  const known = cache.get(today);
  if (known) return known;
  const spans: [number, number][] = [];
  for (let offset = -3; offset <= 10; offset += 1) {
    const date = addDays(today, offset);
    const weekday = weekdayNames[new Date(`${date}T00:00:00Z`).getUTCDay()]!;
    for (const { days, from, to } of schedule) {
      if (!days.includes(weekday)) continue;
      const lastDate = to > from ? date : addDays(date, 1);
      const begin = findInstant(zone, date, from, 'first');
      const end = findInstant(zone, lastDate, to, 'last');
      if (begin < end) spans.push([begin, end]);
    }
  }
  spans.sort(([a], [b]) => a - b);
  for (let index = 1; index < spans.length;) {
    const [before, span] = [spans[index - 1]!, spans[index]!];
    if (span[0] > before[1]) index += 1;
    else {
      before[1] = Math.max(before[1], span[1]);
      spans.splice(index, 1);
    }
  }
  cache.set(today, spans);
  return spans;
}

function addDays(date: string, days: number): string {
  return new Date(Date.parse(`${date}T00:00:00Z`) + days * 1440 * minute).toISOString().slice(0, 10);
}

/** Returns the time on schedule, in milliseconds. */
export function activeBetween(config: PlainConfig, from: number, to: number): number {
  if (config.schedule === null) return Math.max(0, to - from);
  const spans = new Map<number, number>();
  for (let at = from; at < to + 1440 * minute; at += 1440 * minute)
    for (const [begin, end] of spansOnSchedule(config, at))
      spans.set(begin, Math.max(end, spans.get(begin) ?? 0));
  let ms = 0;
  let done = from;
  for (const [begin, end] of [...spans].toSorted(([one], [other]) => one - other)) {
    ms += Math.max(0, Math.min(end, to) - Math.max(begin, done));
    done = Math.max(done, Math.min(end, to));
  }
  return ms;
}

export function nextMidnight(zone: string, now: number): number {
  const today = localDate(zone, now);
  let at = now - (now % minute);
  while (localDate(zone, at) === today) at += 15 * minute;
  while (localDate(zone, at - minute) !== today) at -= minute;
  return at;
}

import { nameCapture } from '../records/moment.ts';
import type { Span } from '../records/sight.ts';
import { earlier } from '../time.ts';

/** Moments that belong together. An end is open if nobody looked beyond it. */
export type Visit<Moment> = {
  moments: Moment[];
  from: Date;
  to: Date;
  /** End of the time after `to` that was seen without another moment, if all moments of the watch were given. */
  seenTo: Date;
  openBegin: boolean;
  openEnd: boolean;
};

/**
 * Time between two moments in which nobody looked, in seconds, over which a visit still continues: several intervals of
 * most watches.
 */
const maxUnlookedSeconds = 60;

/**
 * Returns the visits of one watch, from moments in time order: joined through time in which nothing moved, split by a
 * moment that denies, open-ended across time that was not seen. `belongs` decides whether a moment belongs to the visit
 * of `first`, or begins one: `null` if it says nothing about it. `spans`: what was seen, in time order.
 */
export function findVisits<Moment extends { at: string; moment_id: string }>(
  moments: readonly Moment[],
  spans: readonly Span[],
  belongs: (moment: Moment, first: Moment | undefined) => boolean | null,
): Visit<Moment>[] {
  const isUnseen = createUnseenReader(spans);
  const readSeenEnd = createSeenReader(spans);
  const visits: Visit<Moment>[] = [];
  let current: Visit<Moment> | undefined;
  let before: Moment | undefined;
  let isOpen = false;
  for (const moment of moments) {
    const time = new Date(moment.at);
    extend(time);
    // The capture that ends a gap has scanned the time between its moments.
    const isNext = before !== undefined && nameCapture(before) !== nameCapture(moment);
    isOpen = before !== undefined && isNext && isUnseen(new Date(before.at), time);
    if (isOpen && current) current.openEnd = true;
    if (isOpen) current = undefined;
    before = moment;
    const holds = belongs(moment, current?.moments[0]);
    if (holds === null) continue;
    if (holds && current) {
      current.moments.push(moment);
      current.to = time;
      current.seenTo = time;
      continue;
    }
    const begins = holds || (current !== undefined && belongs(moment, undefined) === true);
    current = begins
      ? { moments: [moment], from: time, to: time, seenTo: time, openBegin: isOpen, openEnd: false }
      : undefined;
    if (current) visits.push(current);
  }
  extend();
  return visits;

  function extend(next?: Date): void {
    if (current && before === current.moments.at(-1)) current.seenTo = readSeenEnd(current.to, next);
  }
}

/** Spans begin and end at tenths of a second. */
const roundingMs = 100;

/**
 * Returns a function that is called with later and later times, and returns until when the time after one was seen
 * without a hole, at most until `next`. All that moved in it has a moment.
 */
function createSeenReader(spans: readonly Span[]): (after: Date, next?: Date) => Date {
  let index = 0;
  return (after, next) => {
    let seenMs = after.getTime() + roundingMs;
    while ((spans[index]?.to.getTime() ?? Infinity) <= seenMs) index += 1;
    let end = after;
    for (let spanIndex = index; ; spanIndex += 1) {
      const span = spans[spanIndex];
      if (!span || span.from.getTime() > seenMs || (next && span.from >= next)) break;
      if (span.class !== 'quiet' && span.class !== 'judged') break;
      seenMs = span.to.getTime();
      end = span.to;
    }
    return next ? earlier(end, next) : end;
  };
}

/**
 * Returns a function that is called with later and later times, and returns whether a part between them was not seen,
 * or that no scan covers for too long.
 */
function createUnseenReader(spans: readonly Span[]): (from: Date, to: Date) => boolean {
  let index = 0;
  return (from, to) => {
    while ((spans[index]?.to ?? to) < from) index += 1;
    let looked = 0;
    let isMissed = false;
    for (let next = index; next < spans.length; next += 1) {
      const span = spans[next];
      if (!span || span.from >= to) break;
      const ms = Math.min(span.to.getTime(), to.getTime()) - Math.max(span.from.getTime(), from.getTime());
      if (ms > 0 && span.class === 'not_seen') isMissed = true;
      if (ms > 0 && (span.class === 'judged' || span.class === 'quiet')) looked += ms;
    }
    return isMissed || to.getTime() - from.getTime() - looked > maxUnlookedSeconds * 1000;
  };
}

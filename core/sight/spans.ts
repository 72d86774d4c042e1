import {
  type SeenAddition,
  type SeenHour,
  type Span,
  type SpanClass,
  spanReasonSchema,
  type SpanReason,
} from '../records/sight.ts';
import { addSeconds, earlier, later } from '../time.ts';
import type { SightSpan } from './count-sight.ts';
import { momentsApartSeconds } from './sure-visit.ts';

/** Part of the time since the tick before that a tick has seen. */
export type Look = {
  class: Exclude<SpanClass, 'not_seen'>;
  /** Time of the newest frame. */
  at: Date;
  /** Time before it that was scanned without a hole, in seconds; 0 without a scan. */
  scannedSeconds: number;
};

/**
 * Returns the class of each part of the active time that a tick counts: the one function from which all claims about it
 * are read.
 */
export function classifySpans(spans: readonly SightSpan[], look: Look | null): Span[] {
  return spans.flatMap(({ from, to, gap }): Span[] => {
    if (gap !== null) return [{ from, to, class: 'not_seen', reason: gap }];
    // Without a scan, a picture that was judged stands for its own second.
    const seconds = look?.class === 'judged' ? momentsApartSeconds : 0;
    const begin = look ? addSeconds(look.at, -Math.max(look.scannedSeconds, seconds)) : to;
    const looked = later(from, earlier(begin, to));
    const end = look ? later(looked, earlier(look.at, to)) : to;
    const parts: Span[] = [
      { from, to: looked, class: 'between', reason: null },
      { from: looked, to: end, class: look?.class ?? 'between', reason: null },
      { from: end, to, class: 'between', reason: null },
    ];
    return parts.filter((part) => part.from < part.to);
  });
}

/** Span of a stored hour: begin and end in tenths of a second since the begin of the hour. */
type HourSpan = { begin: number; end: number; code: string };

const codes: Record<Exclude<SpanClass, 'not_seen'> | SpanReason, string> = {
  judged: 'j',
  quiet: 'q',
  between: 'b',
  stream: 's',
  damaged: 'd',
  stale: 't',
  model: 'm',
  service: 'v',
  budget: 'u',
  frozen: 'f',
  black: 'k',
  overload: 'o',
};
const meanings = new Map<string, Pick<Span, 'class' | 'reason'>>([
  ...spanReasonSchema.options.map(
    (reason) => [codes[reason], { class: 'not_seen' as const, reason }] as const,
  ),
  ...(['judged', 'quiet', 'between'] as const).map(
    (name) => [codes[name], { class: name, reason: null }] as const,
  ),
]);
/** Meaning of a code that another version of the software has written. */
const notSeen = { class: 'not_seen', reason: 'service' } as const;

/** Maximum spans of an hour: its item on DynamoDB stays below a kilobyte, which is a write unit. */
const maxSpans = 60;
const tenthMs = 100;
/** Digits of a begin and of a length, to the base of 36. */
const digits = 3;

/** Adds spans to an hour. Neighbors of one class merge, and others if there are more than `maxSpans`. */
export function extendHour(
  hour: Date,
  before: SeenHour | undefined,
  { spans, unjudged, unsure = {}, sure = 0 }: SeenAddition,
): SeenHour {
  const tenths = (time: Date) => Math.round((time.getTime() - hour.getTime()) / tenthMs);
  const added = spans.map(({ from, to, class: name, reason }): HourSpan => ({
    begin: tenths(from),
    end: tenths(to),
    code: codes[reason ?? (name === 'not_seen' ? 'service' : name)],
  }));
  const sums = { unjudged: addAll(before?.unjudged, unjudged), unsure: addAll(before?.unsure, unsure) };
  const longest = Math.max(before?.sure ?? 0, sure);
  return {
    spans: encode(
      limit(merge([...decode(before?.spans ?? ''), ...added.filter(({ begin, end }) => begin < end)])),
    ),
    ...(Object.keys(sums.unjudged).length > 0 && { unjudged: sums.unjudged }),
    ...(Object.keys(sums.unsure).length > 0 && { unsure: sums.unsure }),
    ...(longest > 0 && { sure: longest }),
  };
}

function addAll(before: Readonly<Record<string, number>> = {}, added: Readonly<Record<string, number>>) {
  const all = { ...before };
  for (const [id, value] of Object.entries(added)) all[id] = Math.round(((all[id] ?? 0) + value) * 10) / 10;
  return all;
}

/** Returns the spans of an hour, in the order of their commits. */
export function readHour(hour: Date, seen: SeenHour | undefined): Span[] {
  return decode(seen?.spans ?? '').map(({ begin, end, code }) => ({
    from: new Date(hour.getTime() + begin * tenthMs),
    to: new Date(hour.getTime() + end * tenthMs),
    ...(meanings.get(code) ?? notSeen),
  }));
}

export function sumSpans(spans: readonly Span[]): Record<SpanClass, number> {
  const sum = { judged: 0, quiet: 0, between: 0, not_seen: 0 };
  for (const { from, to, class: name } of spans) sum[name] += (to.getTime() - from.getTime()) / 1000;
  return sum;
}

function merge(spans: readonly HourSpan[]): HourSpan[] {
  const merged: HourSpan[] = [];
  for (const span of spans) {
    const last = merged.at(-1);
    if (last && last.code === span.code && last.end === span.begin) last.end = span.end;
    else merged.push({ ...span });
  }
  return merged;
}

/**
 * Merges spans with a neighbor until at most `maxSpans` are left, those first whose claims lose the least time. Quiet
 * time beside what was judged counts as judged, since all that moved in it was; others merge into what claims less.
 */
function limit(spans: HourSpan[]): HourSpan[] {
  let left = spans;
  while (left.length > maxSpans) {
    const pairs = left.slice(1).map((other, index) => ({ index, one: left[index] ?? other, other }));
    const { index, one, other } = pairs.reduce((least, pair) => (loss(pair) < loss(least) ? pair : least));
    const joined = { begin: one.begin, end: one.begin + length(one) + length(other), code: join(one, other) };
    left = merge([...left.slice(0, index), joined, ...left.slice(index + 2)]);
  }
  return left;
}

type Pair = { one: HourSpan; other: HourSpan };

/** Returns the tenths of a second whose claim, or reason of a gap, is lost if two spans merge. */
function loss({ one, other }: Pair): number {
  const shorter = Math.min(length(one), length(other));
  if (isApart(one, other)) return 36_000 + shorter;
  const [looked, both] = [one, other].filter(isLooked);
  if (both) return quietShare * length(one.code === codes.quiet ? one : other);
  return looked ? length(looked) : shorter;
}

/** Share of quiet time that counts as lost if it becomes judged: it was still seen. */
const quietShare = 0.1;

function join(one: HourSpan, other: HourSpan): string {
  const longerGap = [one, other].filter(isGap).toSorted((a, b) => length(b) - length(a))[0];
  const isSeen = isLooked(one) && isLooked(other) && !isApart(one, other);
  return longerGap?.code ?? (isSeen ? codes.judged : codes.between);
}

/** Returns true if two spans do not follow each other, or one of them is a gap. */
function isApart(one: HourSpan, other: HourSpan): boolean {
  return isGap(one) !== isGap(other) || one.end !== other.begin;
}

function isLooked({ code }: HourSpan): boolean {
  return code === codes.judged || code === codes.quiet;
}

function length({ begin, end }: HourSpan): number {
  return end - begin;
}

function isGap({ code }: HourSpan): boolean {
  return code !== codes.between && code !== codes.judged && code !== codes.quiet;
}

function encode(spans: readonly HourSpan[]): string {
  return spans.map((span) => span.code + toText(span.begin) + toText(length(span))).join('');
}

function decode(text: string): HourSpan[] {
  const size = 1 + 2 * digits;
  return Array.from({ length: Math.floor(text.length / size) }, (_, index) => {
    const part = text.slice(index * size, (index + 1) * size);
    const begin = Number.parseInt(part.slice(1, 1 + digits), 36);
    return { code: part.charAt(0), begin, end: begin + Number.parseInt(part.slice(1 + digits), 36) };
  });
}

function toText(tenths: number): string {
  return Math.max(0, tenths).toString(36).padStart(digits, '0');
}

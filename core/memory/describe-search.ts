import { Temporal } from 'temporal-polyfill';
import { listActive, scheduleAt } from '../policies/watch/schedule.ts';
import type { SpanReason } from '../records/sight.ts';
import type { Schedule } from '../records/watch.ts';
import { sumSpans } from '../sight/spans.ts';
import { addSeconds, earlier, later } from '../time.ts';
import { joinGaps, listGaps, selectLongest } from './gaps.ts';
import type { SearchState } from './search-cursor.ts';
import type { SearchedWatch } from './searched-watches.ts';

/**
 * Time in which nobody saw a watch: a gap with its reason, or `paused` for one in which it was not to watch at all, or
 * was paused.
 */
export type UnseenSpan = { watch_id: string; from: Date; to: Date; reason: SpanReason | 'paused' };

/** Estimate of a thorough search. `usd`: `null` if the price of the model is unknown. */
export type Estimate = { visits: number; exact: boolean; calls: number; usd: number | null };

const reasons: Record<UnseenSpan['reason'], string> = {
  stream: 'camera lost',
  damaged: 'pictures damaged',
  stale: 'stream stood still',
  model: 'model failed',
  service: 'no check by the service',
  budget: 'budget used up',
  frozen: 'picture frozen',
  black: 'picture black',
  overload: 'service overloaded',
  paused: 'not watching',
};

/** Time after the last span of which nothing is said, in seconds: the current interval is not over yet. */
const maxUnknownSeconds = 600;
/** Inaccuracy of the times of spans, in seconds. */
const inaccuracySeconds = 1;

/** Lists when nobody saw the watches of a search, oldest first of each. */
export function listUnseen(watches: readonly SearchedWatch[]): UnseenSpan[] {
  return watches.flatMap((searched) => {
    const { from, to, spans } = searched;
    const { run_id: watch_id, config, sight } = searched.watch;
    const countedUntil = sight.counted_until === null ? to : new Date(sight.counted_until);
    // Only the time since the newest check can still be seen. Spans are in tenths of a second.
    const newest = addSeconds(countedUntil, -inaccuracySeconds);
    const maxSeconds = (span: Bounds) => (span.from < newest ? inaccuracySeconds : maxUnknownSeconds);
    const paused = listActive(config.schedule, from, to)
      .flatMap((active) => subtract(active, spans))
      .filter((span) => span.to.getTime() - span.from.getTime() > maxSeconds(span) * 1000)
      .map((span) => ({ watch_id, ...span, reason: 'paused' as const }));
    const unseen: UnseenSpan[] = [...listGaps(searched), ...paused];
    return joinGaps(unseen.toSorted((a, b) => a.from.getTime() - b.from.getTime()));
  });
}

type Bounds = { from: Date; to: Date };

function subtract({ from, to }: Bounds, spans: readonly Bounds[]): Bounds[] {
  const left: Bounds[] = [];
  let leftFrom = from;
  for (const span of spans) {
    if (span.to <= leftFrom || span.from >= to) continue;
    if (span.from > leftFrom) left.push({ from: leftFrom, to: earlier(span.from, to) });
    leftFrom = later(leftFrom, span.to);
  }
  return leftFrom < to ? [...left, { from: leftFrom, to }] : left;
}

/** Returns the duration from which visits of all watches are sure to be seen, in seconds; `null` without watches. */
export function sureSeconds(watches: readonly SearchedWatch[]): number | null {
  return watches.length === 0 ? null : Math.max(...watches.map((watch) => watch.sureSeconds));
}

type Described = {
  state: SearchState;
  isThorough: boolean;
  isDone: boolean;
  estimate: Estimate;
  watches: readonly SearchedWatch[];
  unseen: readonly UnseenSpan[];
};

/** Describes what a search has found, what it has checked, and what nobody saw. */
export function describeSearch({ isDone, watches, unseen, ...rest }: Described): string {
  if (watches.length === 0) return 'Nothing found: no watch has a memory of this time.';
  const { found } = rest.state.counts;
  const result = found > 0 ? `${countVisits(found)} found` : isDone ? 'Nothing found' : 'Nothing found yet';
  return `${result}: ${describeLooks(rest)}. ${describeSight(watches, unseen)}`;
}

/** Describes what was seen of watches, and what was not, as a sentence. */
export function describeSight(watches: readonly SearchedWatch[], unseen: readonly UnseenSpan[]): string {
  const sure = sureSeconds(watches);
  const facts = [
    ...(sure === null ? [] : [`Visits of ${Math.ceil(sure)} s and more are sure to be seen`]),
    ...listSchedules(watches),
    ...listBetween(watches),
    ...describeGaps(unseen, watches),
  ];
  return `${facts.join('; ')}.`;
}

function describeLooks({
  state,
  isThorough,
  estimate,
}: Pick<Described, 'state' | 'isThorough' | 'estimate'>) {
  const { counts, unreadBefore, notJudged } = state;
  const visits = `${estimate.exact ? '' : 'about '}${countVisits(estimate.visits)}`;
  const price = estimate.usd ? ` (about $${formatUsd(estimate.usd)})` : '';
  const parts = [
    `${count(counts.moments)} moments`,
    ...(isThorough
      ? [`${count(counts.looked)} checked, a picture for each of ${visits}`]
      : [`${count(counts.matched)} matched in words`, `${count(counts.looked)} checked`]),
    ...(counts.gone > 0 ? [`${count(counts.gone)} without a picture`] : []),
    ...(counts.unjudged > 0 ? [`${count(counts.unjudged)} not judged`] : []),
  ];
  return [
    `${parts.join(', ')}${unreadBefore === null ? '' : `, the best of those since ${unreadBefore}`}`,
    ...(isThorough || estimate.visits === 0
      ? []
      : [`\`thorough\` checks ${estimate.visits === 1 ? '' : 'all '}${visits}${price}`]),
    ...(notJudged === null ? [] : [notJudged.replace(/\.$/, '')]),
  ].join('; ');
}

function count(value: number): string {
  return value.toLocaleString('en-US');
}

function countVisits(visits: number): string {
  return `${count(visits)} ${visits === 1 ? 'visit' : 'visits'}`;
}

function formatUsd(usd: number): string {
  return usd >= 0.01 ? usd.toFixed(2) : usd.toPrecision(1);
}

function listSchedules(watches: readonly SearchedWatch[]): string[] {
  const described = watches.flatMap(({ watch: { config }, to }) => {
    const { active, until } = scheduleAt(config.schedule, to);
    const isNeverOff = active && until === null;
    return config.schedule === null || isNeverOff
      ? []
      : [nameWatch(describeSchedule(config.schedule), config.name, watches)];
  });
  return [...new Set(described)];
}

function describeSchedule({ active, time_zone: zone }: Schedule): string {
  const [only] = active;
  if (only && active.length === 1 && only.days.length === 7)
    return `off by schedule ${only.to === '24:00' ? '00:00' : only.to} to ${only.from} (${zone})`;
  const spans = active.map(({ days, from, to }) => `${days.join(', ')} ${from} to ${to}`);
  return `on by schedule only ${spans.join(', ')} (${zone})`;
}

function nameWatch(text: string, name: string, watches: readonly SearchedWatch[]): string {
  return watches.length === 1 ? text : `${name}: ${text}`;
}

/** Says which part of the time lies between two pictures, from a percent on: of it nobody knows anything. */
function listBetween(watches: readonly SearchedWatch[]): string[] {
  const sum = sumSpans(watches.flatMap(({ spans }) => spans));
  const all = sum.judged + sum.quiet + sum.between + sum.not_seen;
  const percent = all === 0 ? 0 : Math.round((100 * sum.between) / all);
  return percent === 0 ? [] : [`${percent} % of the time between two pictures`];
}

/** Gaps that the sentence names; the answer has all. */
const maxNamed = 8;

function describeGaps(unseen: readonly UnseenSpan[], watches: readonly SearchedWatch[]): string[] {
  const longest = selectLongest(unseen, maxNamed);
  const named = longest.flatMap((gap) => {
    const watch = watches.find(({ watch: { run_id: id } }) => id === gap.watch_id)?.watch;
    return watch ? [nameWatch(describeGap(gap, watch.config.schedule), watch.config.name, watches)] : [];
  });
  const left = unseen.length - longest.length;
  if (named.length === 0) return ['no gap'];
  return [`not seen ${named.join(', ')}${left > 0 ? `, and ${count(left)} shorter times` : ''}`];
}

/** Formats a gap by the clock of its watch: "Tue 02:10 to 03:55 (Europe/Berlin): camera lost". */
function describeGap({ from, to, reason }: UnseenSpan, schedule: Schedule | null): string {
  const zone = schedule?.time_zone ?? 'UTC';
  const [begin, end] = [from, to].map((date) =>
    Temporal.Instant.fromEpochMilliseconds(date.getTime()).toZonedDateTimeISO(zone),
  );
  if (!begin || !end) return '';
  const isSameDay = begin.toPlainDate().equals(end.toPlainDate());
  const isShort = to.getTime() - from.getTime() < 120_000;
  const time = (local: Temporal.ZonedDateTime) =>
    local
      .toPlainTime()
      .toString()
      .slice(0, isShort ? 8 : 5);
  return `${day(begin)} ${time(begin)} to ${isSameDay ? '' : `${day(end)} `}${time(end)} (${zone}): ${reasons[reason]}`;
}

function day(local: Temporal.ZonedDateTime): string {
  return `${weekdays[local.dayOfWeek - 1]} ${local.day} ${months[local.month - 1]}`;
}

const weekdays = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun'];
const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

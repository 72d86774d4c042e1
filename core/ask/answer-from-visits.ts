import { Temporal } from 'temporal-polyfill';
import type { SearchedWatch } from '../memory/searched-watches.ts';
import { findVisits, type Visit } from '../memory/visits.ts';
import type { Capabilities, VisitQuestion } from '../ports/vision-model.ts';
import type { Moment } from '../records/moment.ts';
import { later } from '../time.ts';
import type { MomentStore } from '../ports/moment-store.ts';

/** Statement of an answer, with the moments that show it. */
export type Statement = { text: string; moments: Moment[] };

/** Answer of a model. `reason`: why there is no statement, `null` with some. */
export type ModelAnswer = { statements: Statement[]; reason: string | null; pictures: number };

type Deps = { moments: Pick<MomentStore, 'list'> };

type Reader = NonNullable<Capabilities['visits']>;
type Span = { caller: string; from: Date; to: Date; now: Date };
type Found = { watch: SearchedWatch['watch']; visit: Visit<Moment> };

/** Moments of one page, and of all pages. */
const pageSize = 500;
const maxRead = 50_000;
/** Visits whose times an answer lists. */
const maxListed = 12;

/**
 * Answers how often something came, when it was last there, or whether it was, from visits and without a call. Says
 * what it cannot answer.
 */
export async function answerFromVisits(
  question: string,
  reader: Reader,
  watches: readonly SearchedWatch[],
  span: Span,
  deps: Deps,
): Promise<ModelAnswer> {
  const asked = reader.readQuestion(question);
  const things = reader.readThings(question);
  const isOfCondition =
    things.length === 0 && /\b(?:it|any(?:one|body|thing)|some(?:one|body|thing)|happened)\b/i.test(question);
  if (!asked || (things.length === 0 && !isOfCondition))
    return {
      statements: [],
      reason:
        'The built-in model answers how many visits there were, when the last one was, and whether there was one, of everyday objects: "How many cars came today?". Other questions need another model.',
      pictures: 0,
    };
  const found: Found[] = [];
  for (const { watch, from, spans } of watches) {
    const since = later(from, dayStart(asked, watch, span.now));
    const until = asked.day === 'yesterday' ? dayStart({ day: 'today' }, watch, span.now) : span.to;
    const moments = await readMoments(watch, since, until, span, deps);
    const belongs = (moment: Moment) => shows(moment, things, watch, reader);
    found.push(...findVisits(moments, spans, belongs).map((visit) => ({ watch, visit })));
  }
  found.sort((one, other) => +one.visit.from - +other.visit.from);
  return { statements: describeVisits(asked, things, found), reason: null, pictures: 0 };
}

/** Returns the begin of the day of a question by the clock of a watch; the begin of time without one. */
function dayStart(
  { day }: Pick<VisitQuestion, 'day'>,
  { config: { schedule } }: SearchedWatch['watch'],
  now: Date,
): Date {
  if (day === null) return new Date(0);
  const at = Temporal.Instant.fromEpochMilliseconds(now.getTime()).toZonedDateTimeISO(
    schedule?.time_zone ?? 'UTC',
  );
  const date = day === 'today' ? at : at.subtract({ days: 1 });
  return new Date(date.startOfDay().epochMilliseconds);
}

async function readMoments(
  { run_id: watchId }: SearchedWatch['watch'],
  from: Date,
  to: Date,
  { caller, now }: Span,
  deps: Deps,
): Promise<Moment[]> {
  const moments: Moment[] = [];
  for (let after: { at: string; moment_id: string } | undefined; moments.length < maxRead;) {
    const query = { caller, watches: [{ watchId, from }], to, limit: pageSize, after };
    const page = await deps.moments.list(query, now);
    moments.push(...page.moments);
    if (page.next === null) break;
    after = page.next;
  }
  return moments.toReversed();
}

/**
 * Returns whether a moment shows one of the things, or a condition that holds if none is named; `null` if nothing says
 * it.
 */
function shows(
  { verdicts, scene, objects = [] }: Moment,
  things: readonly string[],
  { config: { conditions } }: SearchedWatch['watch'],
  reader: Reader,
): boolean | null {
  const isSeen = things.some((thing) => objects.some((object) => ` ${object}`.endsWith(` ${thing}`)));
  if (isSeen) return true;
  const judged = verdicts.flatMap(({ condition_id: id, triggered }) => {
    const rule = conditions.find(({ condition_id: other }) => other === id);
    const named = rule ? reader.readThings(rule.condition) : [];
    const isMeant =
      things.length === 0 || (named.length > 0 && named.every((thing) => things.includes(thing)));
    return isMeant && triggered !== null ? [triggered] : [];
  });
  if (judged.includes(true)) return true;
  return judged.length > 0 || (things.length > 0 && scene !== undefined) ? false : null;
}

function describeVisits(
  { asks }: VisitQuestion,
  things: readonly string[],
  found: readonly Found[],
): Statement[] {
  const name = things.length === 0 ? 'what the conditions are about' : things.join(', ');
  const momentOf = ({ visit }: Found) => visit.moments.slice(0, 1);
  const last = found.at(-1);
  if (!last) return [{ text: `No visit of ${name} was seen.`, moments: [] }];
  const listed = found.slice(-maxListed);
  const count = `${found.length} visit${found.length === 1 ? '' : 's'} of ${name}`;
  const all = { text: `${count}: ${listed.map(formatVisit).join('; ')}.`, moments: listed.flatMap(momentOf) };
  const newest = { text: `The last visit of ${name} was ${formatVisit(last)}.`, moments: momentOf(last) };
  return asks === 'last'
    ? [newest]
    : asks === 'count'
      ? [all, newest]
      : [{ ...all, text: `Yes. ${all.text}` }];
}

/** Formats a visit by the clock of its watch: "Gate Tue 24 Nov 02:10:00 to 02:11:30 (UTC)". */
function formatVisit({ watch: { config }, visit: { from, to } }: Found): string {
  const zone = config.schedule?.time_zone ?? 'UTC';
  const at = (time: Date) => Temporal.Instant.fromEpochMilliseconds(time.getTime()).toZonedDateTimeISO(zone);
  const clock = (time: Date) => at(time).toPlainTime().toString().slice(0, 8);
  const end = from.getTime() === to.getTime() ? '' : ` to ${clock(to)}`;
  return `${config.name} ${at(from).toPlainDate().toString()} ${clock(from)}${end} (${zone})`;
}

import { Temporal } from 'temporal-polyfill';
import { cutTo, type SearchedWatch } from '../memory/searched-watches.ts';
import { negation } from '../memory/rank-moments.ts';
import { toStems } from '../memory/stems.ts';
import { findVisits, type Visit } from '../memory/visits.ts';
import type { Capabilities, VisitQuestion } from '../ports/vision-model.ts';
import type { Moment } from '../records/moment.ts';
import { digestQuestion, type WatchCondition } from '../records/watch.ts';
import { earlier, later } from '../time.ts';
import type { MomentStore } from '../ports/moment-store.ts';

/** Statement of an answer, with the moments that show it. */
export type Statement = { text: string; moments: Moment[] };

/**
 * Answer of a model. `reason`: why there is no statement, `null` with some. `listedFrom`: begin of the oldest visit
 * that is listed, if there are more before it. `shownIds`: watches of the pictures that the model was shown; absent for
 * an answer from visits. `seen`: what it is about.
 */
export type ModelAnswer = {
  statements: Statement[];
  reason: string | null;
  pictures: number;
  listedFrom?: Date | undefined;
  shownIds?: string[];
  seen?: readonly SearchedWatch[];
};

type Deps = { moments: Pick<MomentStore, 'list'> };

type Reader = NonNullable<Capabilities['visits']>;
type Span = { caller: string; from: Date; to: Date; now: Date };
type Memory = SearchedWatch & { moments: Moment[] };
type Found = { watch: SearchedWatch['watch']; visit: Visit<Moment> };

/** Moments of one page, and of all pages. */
const pageSize = 500;
const maxRead = 50_000;
const maxListed = 12;

/**
 * Answers how often something came, when it was last there, or whether it was, from visits and without a call. Names
 * what it cannot answer.
 */
export async function answerFromVisits(
  question: string,
  reader: Reader,
  watches: readonly SearchedWatch[],
  span: Span,
  deps: Deps,
): Promise<ModelAnswer> {
  const { text, meant } = readPlace(question.replaceAll(numberSign, ''), watches);
  const asked = reader.readQuestion(text);
  const named = reader.readThings(text);
  const isOfCondition = /\b(?:it|one|visits?|any(?:one|body|thing)|some(?:one|body|thing))\b/i.test(text);
  const repeated = asked ? repeatConditions(asked.unread, named, meant, reader) : [];
  const isAboutVisits = repeated.length > 0 || named.length > 0 || asked?.asks === 'what' || isOfCondition;
  if (!asked || !isAboutVisits) return refuse(refusal);
  if (asked.unread.length > 0 && repeated.length === 0)
    return refuse(`It does not read these words here: ${asked.unread.join(', ')}. ${refusal}`);
  const memories: Memory[] = [];
  for (const searched of repeated.length > 0 ? repeated : meant) {
    const { watch, from } = searched;
    const since = later(from, dayStart(asked, watch, span.now));
    const end = asked.day === 'yesterday' ? dayStart({ day: 'today' }, watch, span.now) : span.to;
    const to = earlier(end, span.to);
    const part = cutTo(searched, earlier(since, to), to);
    memories.push({ ...part, moments: await readMoments(part, span, deps) });
  }
  const answered = { reason: null, pictures: 0, seen: memories };
  if (repeated.length > 0)
    return { ...answered, ...describeVisits(asked, [], memories, reader, { quoted: quote(repeated) }) };
  const [only = [], ...others] =
    named.length > 0 || asked.asks !== 'what' ? named : listSeen(memories, reader);
  if (others.length === 0) return { ...answered, ...describeVisits(asked, only, memories, reader) };
  const each = [only, ...others].map((things) => {
    const [first] = describeVisits(asked, things, memories, reader, { most: 0, former: '' }).statements;
    return { things, first: first ?? { text: '', moments: [] } };
  });
  const allThings = each.map(({ things }) => things);
  const former = describeFormer(memories, allThings, undefined, reader).trim();
  const statements = [
    ...each.map(({ first }) => first),
    ...(former === '' ? [] : [{ text: former, moments: [] }]),
  ];
  if (named.length > 0) return { ...answered, statements };
  const lead = {
    text: `Seen: ${each.map(({ things }) => things.join(', ')).join(', ')}.`,
    moments: each.flatMap(({ first }) => first.moments),
  };
  return { ...answered, statements: [lead, ...statements] };
}

const refusal =
  'The built-in model answers what was seen, how many visits there were, when the last one was, and whether there was one, of everyday objects: "How many cars came today?". For another time than today and yesterday, ask with from and to of the API or of the command line. Other questions, as about when something was not there, need another model.';

function refuse(reason: string): ModelAnswer {
  return { statements: [], reason, pictures: 0 };
}

/** Sign of a number, which denies nothing: "camera no. 5" is "camera 5". */
const numberSign = /\bno\.?\s?(?=\d)/gi;

/**
 * Returns the watches whose place a question names, as "at the gate", "did Gate see" or "Gate: did", and the rest of
 * its text; all if it names none. "No parking" also elsewhere: its "no" denies nothing.
 */
function readPlace(question: string, watches: readonly SearchedWatch[]) {
  const places = watches.flatMap((searched) => {
    const called = searched.watch.config.name.trim().replaceAll(numberSign, '');
    const name = called.replaceAll(/[^\p{L}\p{N}]+/gu, '[^\\p{L}\\p{N}]+');
    const preposition = `(?:at|in|on|by|from|near) (?:(?:the|my|our) )?`;
    const isAlone = negation.test(searched.watch.config.name);
    const end = isAlone ? '(?![\\p{L}\\p{N}])' : '(?=:| (?:see|saw|shows?)\\b)';
    const place = new RegExp(`\\b(?:${preposition}${name}(?![\\p{L}\\p{N}])|${name}${end})`, 'iu');
    const [phrase] = place.exec(question) ?? [];
    return phrase === undefined ? [] : [{ searched, phrase }];
  });
  // "Front door" is not "Front".
  const named = places.filter(({ phrase }) =>
    places.every((other) => other.phrase === phrase || !other.phrase.startsWith(phrase)),
  );
  if (named.length === 0) return { text: question, meant: watches };
  const text = named.reduce((left, { phrase }) => left.replace(phrase, ''), question);
  return { text, meant: named.map(({ searched }) => searched) };
}

/**
 * Returns the watches with the conditions that say the words of a question which no detector reads, such as colors, and
 * are about its things: their verdicts answer it.
 */
function repeatConditions(
  words: readonly string[],
  named: readonly string[][],
  watches: readonly SearchedWatch[],
  reader: Reader,
): SearchedWatch[] {
  if (words.length === 0) return [];
  return watches.flatMap((searched) => {
    const { watch } = searched;
    const conditions = watch.config.conditions.filter(({ condition }) => {
      const [stems, things] = [toStems(condition), reader.readThings(condition).map(String)];
      const isSaid = (word: string) => toStems(word).some((stem) => stems.includes(stem));
      return words.every(isSaid) && named.every((names) => things.includes(String(names)));
    });
    const told = { ...watch, config: { ...watch.config, conditions } };
    return conditions.length > 0 ? [{ ...searched, watch: told }] : [];
  });
}

/** Quotes the conditions of watches, or says how many they are. */
function quote(watches: readonly SearchedWatch[]): string {
  const all = watches.flatMap(({ watch }) => watch.config.conditions.map(({ condition }) => condition));
  const said = [...new Set(all)];
  return said.length > 3
    ? `any of ${said.length} conditions`
    : said.map((condition) => `"${condition}"`).join(' or ');
}

/** Lists what moments show, each thing apart; what the conditions are about if they show no thing. */
function listSeen(memories: readonly Memory[], reader: Reader): string[][] {
  const objects = memories.flatMap(({ moments }) => moments.flatMap((moment) => moment.objects ?? []));
  const things = [...new Set(objects)].flatMap((object) => reader.readThings(object).flat());
  return [...new Set(things)].map((thing) => [thing]);
}

/** Returns the begin of the day of a question by the clock of a watch; the begin of time without one. */
function dayStart(
  { day }: Pick<VisitQuestion, 'day'>,
  { config: { schedule } }: SearchedWatch['watch'],
  now: Date,
): Date {
  if (day === null) return new Date(0);
  const today = Temporal.Instant.fromEpochMilliseconds(now.getTime()).toZonedDateTimeISO(
    schedule?.time_zone ?? 'UTC',
  );
  const date = day === 'today' ? today : today.subtract({ days: 1 });
  return new Date(date.startOfDay().epochMilliseconds);
}

async function readMoments(
  { watch: { run_id: watchId }, from, to }: SearchedWatch,
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
  const judged = verdicts.flatMap((verdict) => {
    const rule = findRule(verdict, conditions);
    const named = rule ? reader.readThings(rule.condition).flat() : [];
    const isMeant =
      things.length === 0 ? rule : named.length > 0 && named.every((thing) => things.includes(thing));
    return isMeant && verdict.triggered !== null ? [verdict.triggered] : [];
  });
  if (judged.includes(true)) return true;
  return judged.length > 0 || (things.length > 0 && scene !== undefined) ? false : null;
}

/** Finds the condition that a verdict is about; undefined if it has other words or another sensitivity now. */
function findRule(
  { condition_id: id, asked }: Moment['verdicts'][number],
  conditions: readonly WatchCondition[],
) {
  const rule = conditions.find(({ condition_id: other }) => other === id);
  return rule && (asked === undefined || asked === digestQuestion(rule)) ? rule : undefined;
}

/**
 * Describes until when watches had other conditions, if nothing else answers then about one of the things: their
 * verdicts are left out.
 */
function describeFormer(
  memories: readonly Memory[],
  things: readonly (readonly string[])[],
  quoted: string | undefined,
  reader: Reader,
): string {
  const sentences = memories.map(({ watch, moments }) => {
    const { name, conditions } = watch.config;
    const isFormer = (verdict: Moment['verdicts'][number]) =>
      !findRule(verdict, conditions) &&
      (quoted === undefined || conditions.some(({ condition_id: id }) => id === verdict.condition_id));
    const isUnanswered = (moment: Moment) =>
      things.some((names) => names.length === 0 || shows(moment, names, watch, reader) === null);
    const last = moments.findLast((moment) => moment.verdicts.some(isFormer) && isUnanswered(moment));
    if (!last) return '';
    const lastAt = new Date(last.at);
    return ` Until ${formatSpan(watch, lastAt, lastAt)}, ${name} had other conditions or another sensitivity; the verdicts on them are left out.`;
  });
  return sentences.join('');
}

/** States how many visits there were and which was the last, then lists the newest `most`, each with its moment. */
function describeVisits(
  { asks }: VisitQuestion,
  things: readonly string[],
  memories: readonly Memory[],
  reader: Reader,
  {
    quoted,
    most = maxListed,
    former = describeFormer(memories, [things], quoted, reader),
  }: { quoted?: string; most?: number; former?: string } = {},
): Pick<ModelAnswer, 'statements' | 'listedFrom'> {
  const visits = memories
    .flatMap(({ watch, spans, moments }): Found[] =>
      findVisits(moments, spans, (moment) => shows(moment, things, watch, reader)).map((visit) => ({
        watch,
        visit,
      })),
    )
    .toSorted((one, other) => +other.visit.from - +one.visit.from);
  const name = quoted ?? (things.length === 0 ? quote(memories) || 'anything' : things.join(', '));
  const [last, ...before] = visits;
  if (!last) return { statements: [{ text: `No visit of ${name} was seen.${former}`, moments: [] }] };
  const newest = `was ${formatVisit(last)}.${former}`;
  if (asks === 'last') return { statements: [state(`The last visit of ${name} ${newest}`, last)] };
  const listed = before.length === 0 ? [] : visits.slice(0, most);
  const isCut = most > 0 && visits.length > most;
  const count = `${visits.length} visit${before.length === 0 ? '' : 's'} of ${name}`;
  const lead = `${asks === 'whether' ? 'Yes: ' : ''}${count}${isCut ? `, of which the newest ${most} are listed` : ''}; the last one ${newest}`;
  return {
    statements: [state(lead, last), ...listed.map((each) => state(`${formatVisit(each)}.`, each))],
    ...(isCut && { listedFrom: listed.at(-1)?.visit.from }),
  };
}

function state(text: string, { visit }: Found): Statement {
  return { text, moments: visit.moments.slice(0, 1) };
}

/** Formats a visit by the clock of its watch: "Gate 2026-11-24 02:10:00 to 02:11:30 (UTC)". */
function formatVisit({ watch, visit: { from, seenTo } }: Found): string {
  return `${watch.config.name} ${formatSpan(watch, from, seenTo)}`;
}

function formatSpan({ config }: Found['watch'], from: Date, to: Date): string {
  const zone = config.schedule?.time_zone ?? 'UTC';
  const onClock = (time: Date) =>
    Temporal.Instant.fromEpochMilliseconds(time.getTime()).toZonedDateTimeISO(zone);
  const clock = (time: Date) => onClock(time).toPlainTime().toString().slice(0, 8);
  const [day, lastDay] = [from, to].map((time) => onClock(time).toPlainDate().toString());
  const end = `${day === lastDay ? '' : `${lastDay} `}${clock(to)}`;
  return `${day} ${clock(from)}${from.getTime() === to.getTime() ? '' : ` to ${end}`} (${zone})`;
}

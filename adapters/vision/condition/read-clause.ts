import type { UnjudgedPart } from '../../../core/ports/vision-model.ts';
import type { Color } from '../pixel/colors.ts';
import { type Condition, join } from './condition.ts';
import { type Noun, findNoun } from './nouns.ts';
import { readMeasurements } from './read-measurements.ts';
import * as words from './vocabulary.ts';

/** Part of a sentence between "and", "or" and commas. `condition` is null if it requires nothing: "then tell me". */
export type Clause = {
  condition: Condition | null;
  notJudged: UnjudgedPart[];
  endsWithPlace: boolean;
  /** True without a verb, a place and words that are not judged: "a dog". */
  isBare: boolean;
  /** True if it begins with "no", which "or cars" continues. */
  isDenied: boolean;
};

/** Reads a clause: its objects, or the measurements of the whole picture if it has none. */
export function readClause(tokens: readonly string[]): Clause {
  const { places, rest, rides, endsWithPlace } = takePlaces(tokens);
  const { condition, unknown, named } = rest.some((token) => findNoun(token))
    ? readObjects(rest)
    : { ...readMeasurements(rest, places), named: [] };
  const notJudged: UnjudgedPart[] = [
    ...named,
    ...rides.map((word) => ({ words: word, kind: 'words' as const })),
    ...places.flatMap((place) => (unknown.includes(place) ? [] : [{ words: place, kind: 'place' as const }])),
    ...unknown.map((word) => ({ words: word, kind: 'words' as const })),
  ];
  const isBare =
    notJudged.every(({ kind }) => kind === 'narrower') && !rest.some((token) => words.verbs.has(token));
  return { condition, notJudged, endsWithPlace, isBare, isDenied: words.negations.has(rest[0] ?? '') };
}

/** Takes the places ("in front of the blue car") out of a clause. Nothing behind another preposition is understood. */
function takePlaces(tokens: readonly string[]) {
  const places: string[] = [];
  const rest: string[] = [];
  const rides: string[] = [];
  let end = 0;
  for (let start = 0; start < tokens.length; start = Math.max(end, start + 1)) {
    const token = tokens[start] ?? '';
    // "Cars are not driving past the house" is no absence.
    const isDenied = tokens[start - 1] === 'not' && words.movements.has(token);
    const taken = isDenied ? 0 : countPlace(tokens.slice(start));
    const isRidden = taken === 0 && ridden.test(`${token} ${findHead(tokens.slice(start + 1))}`);
    const isUnread = taken === 0 && !isRidden && words.prepositions.has(token);
    if (taken > 0 || isUnread) end = isUnread ? tokens.length : start + taken;
    if (taken > 1) places.push(tokens.slice(start, end).join(' '));
    if (isRidden) rides.push(token);
    if (isRidden) rest.push('with');
    else if (isUnread) rest.push(tokens.slice(start).join(' '));
    else if (taken === 0 || words.absences.has(token)) rest.push(token);
  }
  return { places, rest, rides, endsWithPlace: places.length > 0 && end === tokens.length };
}

/** Objects that one rides: both are there, and how they belong together is not judged. */
const ridden = /^on (?:bicycle|motorcycle|horse|skateboard|surfboard|skis|snowboard)$/;
/** Objects that one holds or wears: no places either. */
const held = /^(?:on cell phone|in tie)$/;

/** Returns the classes of the first word behind an article and colors. */
function findHead(tokens: readonly string[]): string | undefined {
  const head = tokens.find((token) => !words.determiners.has(token) && words.readColors(token).length === 0);
  return findNoun(head)?.classes.join();
}

/** Returns the number of tokens of the place at the start of `tokens`, or 0. */
function countPlace(tokens: readonly string[]): number {
  const [first = '', ...more] = tokens;
  if (words.movements.has(first)) {
    const taken = more[0] === 'in' && more.length > 1 ? 0 : countPlace(more);
    return taken > 0 && !more.slice(0, taken).some((token) => findNoun(token)) ? taken + 1 : 0;
  }
  const reaches = words.reaching.has(first) && words.determiners.has(more[0] ?? '');
  if (!reaches && !words.prepositions.has(first)) return 0;
  if (more.length === 0) return /^(?:in|by|past|inside)$/.test(first) ? 1 : 0;
  let head = 0;
  for (const [position, token] of more.entries()) {
    const classes = findNoun(token)?.classes.join();
    const isPlace =
      words.placeWords.has(token) ||
      (classes && ![ridden, held].some((list) => list.test(`${first} ${classes}`)));
    // "In zone 3" names the zone, "in the room 3 people" counts people.
    if (isPlace || (head > 0 && /^#\d+-$/.test(token) && position === more.length - 1)) head = position + 2;
    else if (head > 0 || !(words.determiners.has(token) || words.readColors(token).length > 0)) break;
  }
  return head;
}

type Objects = {
  classes: Noun['classes'];
  colors: Color[];
  least: number;
  most: number;
  isDenied: boolean;
};

/** Objects of a clause while it is read. */
type State = {
  objects: Objects[];
  /** Objects before the first "not", which it does not deny; null without one. */
  subjects: Objects[] | null;
  limits: Pick<Objects, 'least' | 'most'> | null;
  colors: Color[];
  /** True after "no". */
  deniesNext: boolean;
  /** Number of "not" and "is gone". */
  denials: number;
  unknown: string[];
  narrower: UnjudgedPart[];
};

function readObjects(tokens: readonly string[]) {
  const state: State = {
    objects: [],
    subjects: null,
    limits: null,
    colors: [],
    deniesNext: false,
    denials: 0,
    unknown: [],
    narrower: [],
  };
  for (const [index, token] of tokens.entries()) readToken(token, tokens.slice(index + 1), state);
  const { objects, subjects, denials, unknown, narrower: named } = state;
  if (state.deniesNext || state.limits !== null) unknown.push('a number without a noun');
  const isDenied = objects.some((object) => object.isDenied);
  if (denials > 1 || (denials === 1 && (isDenied || objects.length !== 1)))
    unknown.push(...tokens.filter(words.isDenial));
  const counted = (isDenied ? [] : (subjects ?? objects)).map(toCondition);
  // With words that are not understood, a clause may be false, but never true.
  const condition: Condition =
    unknown.length > 0 || objects.length === 0
      ? join('all', [...counted, { kind: 'unmeasurable' }])
      : join(
          'all',
          objects.map((object) => toCondition({ ...object, isDenied: object.isDenied || denials > 0 })),
        );
  return { condition, unknown, named };
}

function toCondition({ classes, colors, least, most, isDenied }: Objects): Condition {
  const atom = { kind: 'objects' as const, classes, colors };
  const counts = join<Condition>('all', [
    ...(least > 0 ? [{ ...atom, compare: 'at least' as const, count: least }] : []),
    ...(most < Infinity ? [{ ...atom, compare: 'at most' as const, count: most }] : []),
  ]);
  return isDenied ? { kind: 'not', part: counts } : counts;
}

function readToken(token: string, rest: readonly string[], state: State): void {
  const { objects, unknown, narrower } = state;
  const noun = findNoun(token);
  const colors = words.readColors(token.replace('clad:', ''));
  const [, least, most] = /^#(\d+)-(\d*)$/.exec(token) ?? [];
  const isUnclear =
    (token === 'with' && objects.some(({ isDenied }) => isDenied)) ||
    (/^(?:who|which|that)$/.test(token) && rest.includes('not'));
  if (noun) addNoun(token, noun, findNoun(rest[0]), state);
  else if (least !== undefined) state.limits = { least: Number(least), most: Number(most || Infinity) };
  else if (colors.length > 0) addColors(token, colors, rest[0], state);
  else if (words.negations.has(token) && !(token === 'without' && objects.length > 0))
    state.deniesNext = true;
  else if (words.isDenial(token)) {
    state.subjects ??= words.absences.has(token) ? [] : [...objects];
    state.denials += 1;
    if (token === 'without') unknown.push(token);
  } else if (token.startsWith('worn_')) narrower.push({ words: token, kind: 'words' });
  else if (isUnclear || !words.isFiller(token)) unknown.push(token);
}

/** "A dog bowl" is a bowl of some kind, "an adult person" a person. */
function addNoun(token: string, { classes, narrower }: Noun, head: Noun | null, state: State): void {
  if (head !== null && head.classes.join() !== classes.join()) state.unknown.push(token);
  else if (narrower !== null)
    state.narrower.push({ words: narrower, kind: 'narrower', countsAs: classes.join(' or ') });
  if (head !== null) return;
  const { limits, colors, deniesNext: isDenied } = state;
  state.objects.push({ classes, colors, isDenied, ...(limits ?? { least: 1, most: Infinity }) });
  Object.assign(state, { limits: null, colors: [], deniesNext: false });
}

/**
 * Gives colors to the object behind, or to the one before: "the car is red", "a person in red". The color of a traffic
 * light is a lamp, too small for the color of its box, and that of a person is not one of clothes. "The car is not red"
 * is not understood.
 */
function addColors(token: string, colors: Color[], next: string | undefined, state: State): void {
  const behind = findNoun(next);
  const before = state.objects.at(-1);
  const isLast = next === undefined || words.isFiller(next) || next === 'with';
  if (behind && hasColor(behind)) state.colors = colors;
  else if (before && (token.startsWith('clad:') || (isLast && hasColor(before) && state.denials === 0)))
    before.colors = colors;
  else state.unknown.push(token);
}

function hasColor({ classes }: Pick<Noun, 'classes'>): boolean {
  return !classes.includes('person') && !classes.includes('traffic light');
}

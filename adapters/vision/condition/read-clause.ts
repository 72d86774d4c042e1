import type { UnjudgedPart } from '../../../core/ports/vision-model.ts';
import type { Color } from '../pixel/colors.ts';
import { type Condition, join, type Measurement } from './condition.ts';
import { type Noun, findNoun } from './nouns.ts';
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

const measurements: [ReadonlySet<string>, Condition][] = [
  [words.dark, { kind: 'dark' }],
  [words.bright, { kind: 'bright' }],
  [words.lit, { kind: 'not', part: { kind: 'dark' } }],
  [words.blank, { kind: 'blank' }],
  [words.motion, { kind: 'motion' }],
  [words.still, { kind: 'not', part: { kind: 'motion' } }],
];
const undecided: Condition = { kind: 'unmeasurable' };
const brightness = [words.dark, words.lit, words.bright];
const extents = [words.mostWords, words.allWords, words.largeWords, words.smallWords, words.wholeWords];

/** Reads what is measured in the whole picture. Nothing is judged beside a word that is not understood. */
function readMeasurements(tokens: readonly string[], places: readonly string[]) {
  const measured = tokens.map((_, index) => findMeasurement(tokens, index));
  const isMeasured = measured.some(Boolean);
  const isBright = tokens.some((token) => brightness.some((list) => list.has(token)));
  const isUnknown = (token: string, index: number) => {
    // "Red, not blue" denies the second color, "red not blue" is not understood.
    if (words.isDenial(token))
      return measured.slice(0, index).some(Boolean) && measured.slice(index).some(Boolean);
    if (measured[index] || words.isFiller(token))
      return (
        measured[index] !== null &&
        isBright &&
        /^an?$/.test(tokens[index - 1] ?? '') &&
        !isView(tokens[index + 1])
      );
    // The mean brightness is that of the view: "something dark" and "the cupboard is dark" are not about it.
    const isBeside =
      extents.some((list) => list.has(token)) || (isBright ? isView(token) : words.things.has(token));
    return !isMeasured || !(isBeside || (!isBright && readShare(token)));
  };
  const unknown = tokens.filter(isUnknown);
  if (isBright) unknown.push(...places.filter((place) => !place.split(' ').slice(1).every(isView)));
  const denials = tokens.filter(words.isDenial);
  if (denials.length > 1) unknown.push(...denials);
  const all = join(
    'all',
    measured.flatMap((part) => part ?? []),
  );
  if (unknown.length > 0) return { condition: undecided, unknown };
  return {
    condition: !isMeasured ? null : denials.length === 1 ? { kind: 'not' as const, part: all } : all,
    unknown,
  };
}

function isView(token = ''): boolean {
  return words.viewedPlaces.has(token) || words.wholeWords.has(token) || words.isFiller(token);
}

/** Returns what a token measures, or null. */
function findMeasurement(tokens: readonly string[], index: number): Condition | null {
  const measurement = measurements.find(([list]) => list.has(tokens[index] ?? ''));
  if (measurement) return measurement[1];
  const colors = words.readColors(tokens[index]).map((color) => readColor(color, tokens, tokens[index + 1]));
  return colors.length === 0 ? null : join('any', colors);
}

function readColor(color: Color, tokens: readonly string[], next = ''): Measurement {
  const has = (list: ReadonlySet<string>) => tokens.some((token) => list.has(token));
  const covers = (share: number) => ({ kind: 'share' as const, color, compare: 'at least' as const, share });
  const share = tokens.map(readShare).find((each) => each !== null);
  if (share) return { ...covers(share.share), ...share };
  if (has(words.mostWords)) return covers(0.5);
  if (has(words.allWords)) return covers(0.9);
  // Half of a night scene is black; a black screen is almost completely black.
  if (has(words.wholeWords) && !words.things.has(next)) return covers(color === 'black' ? 0.9 : 0.5);
  // The default is a region of 17×17 pixels of a 320×180 frame.
  return {
    kind: 'region',
    color,
    share: has(words.largeWords) ? 0.02 : has(words.smallWords) ? 0.001 : 0.005,
  };
}

const compares = ['at least', 'at most', 'more than', 'less than'] as const;

function readShare(token: string) {
  const [name = '', percent] = token.replace('_', ' ').split(':');
  const compare = compares.find((each) => each === name);
  return compare ? { compare, share: Number(percent) / 100 } : null;
}

import { type Color, colors } from '../pixel/colors.ts';
import { join, listParts } from './logic.ts';
import { colorNamed } from './vocabulary.ts';
import type { ObjectClass } from '../objects/classes.ts';
import type { Condition, ObjectsAtom } from './condition.ts';
import { type Noun, findNoun } from './nouns.ts';
import { readPlace } from './read-place.ts';
import * as words from './vocabulary.ts';

/** Part of a sentence between "and", "or" and commas. */
export type ObjectClause = {
  /** Null if the clause requires nothing. */
  condition: Condition | null;
  notJudged: string[];
  /** True if it ends with a place, which "or the garage" continues. */
  endsWithPlace: boolean;
  /** True if it consists of objects only, without a verb: "a dog". */
  isNounPhrase: boolean;
  /** True if it begins with "no", which "or cars" continues. */
  beginsNegated: boolean;
};

type Counts = { least: number; most: number | null; no: boolean };
const oneOrMore: Counts = { least: 1, most: null, no: false };

/** State while the tokens of a clause are read. */
type State = {
  parts: Condition[];
  /** Atoms of the last noun, for a color that follows it. */
  last: number;
  counts: Counts | null;
  colors: Color[];
  unknown: string[];
  notJudged: string[];
  negatedNouns: number;
  negatedVerbs: number;
  /** Number of parts before the first "not": the subject of the clause. */
  partsBeforeNot: number;
  absent: boolean;
  hasVerb: boolean;
  endsWithPlace: boolean;
  linking: 'with' | 'without' | null;
  /** True after "in red": clothes, unlike "a black man". */
  isClothes: boolean;
  /** True after "who", "which" or "that" behind an object: "a person who is not at the door" is no absence. */
  isRelative: boolean;
  colorNegated: boolean;
};

/** Reads a clause with an object. `inheritsNo` continues "no people" with "or cars". */
export function readObjectClause(tokens: string[], inheritsNo: boolean): ObjectClause {
  const state: State = {
    parts: [],
    last: -1,
    counts: inheritsNo ? { ...oneOrMore, no: true } : null,
    colors: [],
    unknown: [],
    notJudged: [],
    negatedNouns: 0,
    negatedVerbs: 0,
    partsBeforeNot: -1,
    absent: false,
    hasVerb: false,
    endsWithPlace: false,
    linking: null,
    isClothes: false,
    isRelative: false,
    colorNegated: false,
  };
  for (let at = 0; at < tokens.length;) {
    const taken = readToken(tokens, at, state);
    at += Math.max(taken, 1);
  }
  flushColors(state);
  return {
    condition: conclude(state),
    notJudged: [...state.notJudged, ...state.unknown],
    endsWithPlace: state.endsWithPlace,
    isNounPhrase:
      state.parts.length > 0 && !state.hasVerb && !state.endsWithPlace && state.unknown.length === 0,
    beginsNegated: state.negatedNouns > 0 && !state.hasVerb,
  };
}

/** Reads the token at an index and returns the number of tokens that it took. */
function readToken(tokens: string[], at: number, state: State): number {
  const token = tokens[at] ?? '';
  const next = tokens[at + 1];
  const noun = findNoun(token);
  if (noun !== null) return readNoun(token, noun, next, state);
  const choice = token.split('|').flatMap((word) => colorNamed(word) ?? []);
  if (choice.length > 0) {
    state.colors.push(...choice);
    // "White, " or "white." after a verb describes the object before.
    if (state.colors.length > choice.length) state.unknown.push(token);
    return 1;
  }
  const counts = readCounts(tokens, at, state.counts?.no ?? false);
  if (counts !== null) {
    state.counts = counts.counts;
    return counts.taken;
  }
  if (token === 'not' || token === 'never') {
    if (state.negatedVerbs === 0) state.partsBeforeNot = state.parts.length;
    state.negatedVerbs += 1;
    return 1;
  }
  if (state.parts.length > 0 && /^(?:who|which|that|whose)$/.test(token)) state.isRelative = true;
  if (token === 'with' || token === 'without') return readLink(tokens, at, state);
  if (words.absences.has(token)) {
    state.absent = true;
    state.hasVerb = true;
    return words.reachingVerbs.has(token) && words.determiners.has(next ?? '')
      ? Math.max(addPlace(tokens, at, state), 1)
      : 1;
  }
  const place = readMovementOrPlace(tokens, at, state);
  if (place > 0) return place;
  if (token.startsWith('worn_')) {
    state.notJudged.push(token);
    return 1;
  }
  if (words.determiners.has(token)) return 1;
  if (words.fillers.has(token)) {
    if (/^(?:is|are|was|were|be|been)$/.test(token)) flushColors(state);
    state.hasVerb ||= !/^(?:there|so|also|now|just|the|both|either)$/.test(token);
    return 1;
  }
  // In "a red jacket" the color is not that of the person.
  state.unknown.push(...state.colors, token);
  state.colors = [];
  state.endsWithPlace = false;
  return 1;
}

function readNoun(token: string, noun: Noun, next: string | undefined, state: State): number {
  // "A dog bowl" is a bowl of some kind, "a truck driver" is a word of its own.
  const head = next === undefined ? null : findNoun(next);
  if (head !== null) (isSameKind(noun, head) ? state.notJudged : state.unknown).push(token);
  else addObject(state, noun);
  state.endsWithPlace = false;
  return 1;
}

function readMovementOrPlace(tokens: string[], at: number, state: State): number {
  const token = tokens[at] ?? '';
  const next = tokens[at + 1] ?? '';
  if (words.reachingVerbs.has(token) && words.determiners.has(next)) return addPlace(tokens, at, state);
  if (words.movementVerbs.has(token)) {
    if (state.negatedVerbs > 0 || isCollision(tokens.slice(at))) return 0;
    // "Walks in the yard" is an activity, "walks in" an arrival.
    const isWithin = next === 'in' && tokens[at + 2] !== undefined;
    if ((words.directions.has(next) && !isWithin) || (words.arrivingVerbs.has(token) && next === '')) {
      state.hasVerb = true;
      if (!words.fillers.has(token)) state.notJudged.push(token);
      return 1;
    }
    return 0;
  }
  if (token === 'in' && state.parts.length > 0 && isColorPhrase(tokens.slice(at + 1))) {
    state.isClothes = true;
    return 1;
  }
  if (!words.prepositions.has(token)) return 0;
  if (token === 'on') {
    const ridden = tokens.slice(at + 1).find((word) => !words.determiners.has(word));
    const noun = findNoun(ridden ?? '');
    if (noun?.classes.length === 1 && words.rideable.has(noun.classes[0] ?? '')) {
      state.linking = 'with';
      state.notJudged.push('on');
      return 1;
    }
  }
  return addPlace(tokens, at, state);
}

/** "Runs over a dog" and "drives into a person", unlike "flies over the field" and "gets into the car". */
function isCollision([verb = '', direction = '', ...rest]: string[]): boolean {
  const what = rest.find((word) => !words.determiners.has(word));
  const collides =
    direction === 'over' || direction === 'through' || (direction === 'into' && words.fastVerbs.has(verb));
  return collides && what !== undefined && findNoun(what) !== null && !words.placeWords.has(what);
}

function isColorPhrase(tokens: string[]): boolean {
  const [color, next] = tokens;
  return (
    color !== undefined &&
    colorNamed(color) !== null &&
    (next === undefined ||
      next.startsWith('worn_') ||
      words.fillers.has(next) ||
      words.prepositions.has(next))
  );
}

function addPlace(tokens: string[], at: number, state: State): number {
  const taken = readPlace(tokens, at);
  if (taken === 0) return 0;
  flushColors(state);
  state.hasVerb ||= words.reachingVerbs.has(tokens[at] ?? '');
  state.endsWithPlace = taken > 1;
  if (taken > 1) state.notJudged.push(tokens.slice(at, at + taken).join(' '));
  return taken;
}

function readLink(tokens: string[], at: number, state: State): number {
  flushColors(state);
  const negative = tokens[at] === 'without';
  // "No person without a dog" says nothing of dogs where nobody is.
  if (state.negatedNouns > 0) state.unknown.push(tokens[at] ?? '');
  if (negative && state.parts.length === 0) {
    state.counts = { ...oneOrMore, no: true };
    return 1;
  }
  state.linking = negative ? 'without' : 'with';
  state.notJudged.push(negative ? 'without' : 'with');
  return 1;
}

/** Reads "no", "at least 2", "2 to 4" and the like. */
function readCounts(tokens: string[], at: number, no: boolean): { counts: Counts; taken: number } | null {
  const token = tokens[at] ?? '';
  if (token === 'no' || token === 'neither' || token === 'none')
    return { counts: { ...oneOrMore, no: true }, taken: 1 };
  const limit = readLimit(token);
  if (limit === null) return null;
  const second = readLimit(tokens[at + 1] ?? '');
  const isRange = limit.kind === 'least' && second?.kind === 'most';
  const most = isRange ? second.count : limit.kind === 'least' ? null : limit.count;
  return {
    counts: { least: limit.kind === 'most' ? 0 : limit.count, most, no },
    taken: isRange ? 2 : 1,
  };
}

function readLimit(token: string): { kind: string; count: number } | null {
  const found = /^#(least|most|exact):(\d+)$/.exec(token);
  return found === null ? null : { kind: found[1] ?? '', count: Number(found[2]) };
}

/** "An adult person" is a person of some kind. */
function isSameKind(a: Noun, b: Noun): boolean {
  return a.classes.length === b.classes.length && a.classes.every((one) => b.classes.includes(one));
}

function addObject(state: State, noun: Noun): void {
  const counts = state.counts ?? oneOrMore;
  if (noun.narrower !== null) state.notJudged.push(noun.narrower);
  if (hasNoColor(noun.classes)) state.unknown.push(...state.colors.splice(0));
  const atom = (compare: ObjectsAtom['compare'], count: number): ObjectsAtom => ({
    kind: 'objects',
    classes: noun.classes,
    compare,
    count,
    colors: state.colors,
  });
  const limits = [
    ...(counts.least > 0 ? [atom('at least', counts.least)] : []),
    ...(counts.most === null ? [] : [atom('at most', counts.most)]),
  ];
  const objects = join<Condition>('all', limits.length === 0 ? [atom('at least', 1)] : limits);
  if (counts.no) state.negatedNouns += 1;
  if (state.linking === 'without') {
    state.parts.push({ kind: 'any', of: [{ kind: 'not', of: objects }, { kind: 'unmeasurable' }] });
  } else {
    state.parts.push(counts.no ? { kind: 'not', of: objects } : objects);
    state.last = state.parts.length - 1;
  }
  state.linking = null;
  state.counts = null;
  state.colors = [];
}

/** Gives colors without a noun to the object before: "the car is red", "a person in red". */
function flushColors(state: State): void {
  if (state.colors.length === 0) return;
  const part = state.parts[state.last];
  if (
    part === undefined ||
    listParts(part).some((atom) => atom.kind === 'objects' && hasNoColor(atom.classes, state.isClothes))
  )
    state.unknown.push(...state.colors);
  else if (state.negatedVerbs === 1 && state.partsBeforeNot > 0) {
    state.parts.push({ kind: 'not', of: colored(part, state.colors) });
    state.colorNegated = true;
  } else state.parts[state.last] = colored(part, state.colors);
  state.colors = [];
}

/** The color of a traffic light is a lamp, too small for the color of its box. That of a person is not one of clothes, unless they are "in" it. */
function hasNoColor(classes: readonly ObjectClass[], isClothes = false): boolean {
  return classes.includes('traffic light') || (classes.includes('person') && !isClothes);
}

function colored(part: Condition, chosen: readonly Color[]): Condition {
  switch (part.kind) {
    case 'objects':
      return { ...part, colors: colors.filter((color) => chosen.includes(color)) };
    case 'not':
      return { kind: 'not', of: colored(part.of, chosen) };
    case 'all':
    case 'any':
      return { kind: part.kind, of: part.of.map((of) => colored(of, chosen)) };
    default:
      return part;
  }
}

function conclude(state: State): Condition | null {
  const { parts, unknown, negatedNouns, negatedVerbs, absent, colorNegated } = state;
  // "The clock shows 12": a number without a noun is no count of the objects before it.
  const dangling = state.linking !== null || state.counts !== null;
  const negatedTimes = negatedNouns + negatedVerbs + (absent ? 1 : 0);
  const open = unknown.length > 0 || dangling;
  if (negatedTimes > 1 && !(negatedVerbs === 0 && !absent)) return { kind: 'unmeasurable' };
  if (open) {
    if (negatedNouns > 0) return { kind: 'unmeasurable' };
    const subject =
      negatedVerbs > 0 ? parts.slice(0, Math.max(state.partsBeforeNot, 0)) : absent ? [] : parts;
    return join<Condition>('all', [...subject, { kind: 'unmeasurable' }]);
  }
  if (parts.length === 0) return null;
  if (state.isRelative && !colorNegated && (negatedVerbs > 0 || absent))
    return join<Condition>('all', [
      ...parts.slice(0, Math.max(state.partsBeforeNot, 0)),
      { kind: 'unmeasurable' },
    ]);
  if (colorNegated) return join('all', parts);
  if (negatedVerbs === 0 && !absent) return join('all', parts);
  return parts.length === 1 ? { kind: 'not', of: join('all', parts) } : { kind: 'unmeasurable' };
}

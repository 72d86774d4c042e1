import { splitTimes } from '../../../core/advice/times.ts';
import type { UnjudgedPart } from '../../../core/ports/vision-model.ts';
import type { Condition, ObjectsAtom, PixelCondition, Reading } from './condition.ts';
import { foreignLanguage } from './languages.ts';
import { join, type Logic, listParts } from './logic.ts';
import { findNoun } from './nouns.ts';
import { plainSentence } from './plain-sentence.ts';
import { plainWords } from './plain-words.ts';
import { lampsOn, type PictureClause, readPictureClause } from './read-measurements.ts';
import { type ObjectClause, readObjectClause } from './read-objects.ts';
import { readPlace } from './read-place.ts';
import {
  asides,
  colorNamed,
  determiners,
  fillers,
  overturning,
  pictureSubjects,
  placeWords,
  prepositions,
  reachingVerbs,
  viewedPlaces,
} from './vocabulary.ts';

/**
 * Parses a condition for the built-in models, and names the parts that they do not judge.
 *
 * - Clauses are joined by "and", "but", "while" or commas (all must hold), or by "or" and "nor" (one suffices; "and" binds closer).
 * - A clause has objects with a number ("two", "at least 3", "no"), a color, and verbs of presence ("is", "appears", "stands").
 * - A place ("at the door") is no requirement, and neither is a time ("at night") or a narrower word ("a taxi" is a car). They are named as not judged.
 * - Any other word beside an object makes its clause undecided: the condition is false if an object is absent, and never true.
 * - A sentence that names no object is about the whole picture (`parseMeasurements`).
 *
 * "Unless", "until", "except" and the like overturn a whole condition.
 */
export function parseCondition(text: string): Reading & { namesObjects: boolean } {
  const { rest, times } = splitTimes(text);
  const tokens = joinedNouns(toTokens(plainSentence(rest)));
  if (!tokens.some((token) => findNoun(token) !== null))
    return { ...parseMeasurements(text), namesObjects: false };
  if (foreignLanguage(rest) !== null) return { condition: null, notJudged: [], namesObjects: true };
  const { clauses, condition } = joinClauses(withLists(splitClauses(tokens, objectJoiners)));
  const overturned = isNegativeQuestion(rest) ? 'not' : findOverturning(tokens);
  const notJudged = [
    ...(overturned === undefined ? [] : [{ words: overturned, kind: 'words' as const }]),
    ...clauses.flatMap((clause) => clause.notJudged).map(toUnjudgedPart),
    ...times.map((words) => ({ words, kind: 'time' as const })),
  ];
  return {
    condition: overturned === undefined ? condition : { kind: 'unmeasurable' },
    notJudged,
    namesObjects: true,
  };
}

/**
 * Parses a condition about the whole picture, and ignores what no pixel shows:
 *
 * - a clause consists of colors, "dark", "bright", "blank", "motion" and their synonyms, all of which must hold;
 * - the amount of a color is "at least 20 %", "more than 5 %", "half", "mostly" (50 %), "all" or "entirely" (90 %). "The
 *   picture is red" and "a red screen" mean 50 % (90 % for black), "large" a region of 2 % of the frame, "small" one of 0.1 %. The
 *   default is a connected region of 0.5 %: "a red box", "something red appears", "red light";
 * - a clause is negated by "no", "not", "without", "is gone" or "disappears"; two negations cancel out;
 * - "dark" and "bright" count for the picture, or for a place that the camera views whole: "the room is dark", not "a dark figure";
 * - a time ("for 5 minutes"), a number of things ("two red boxes") and that lamps are on never hold for certain.
 *
 * A clause without any of these is undecidable. Joined by "and", it makes the whole condition undecidable.
 */
export function parseMeasurements(text: string): Reading<PixelCondition> {
  const { rest, times } = splitTimes(text);
  const notJudged: UnjudgedPart[] = times.map((words) => ({ words, kind: 'time' }));
  const tokens = toTokens(plainWords(rest));
  const overturned = tokens.find((word) => overturning.has(word));
  if (overturned !== undefined)
    return { condition: null, notJudged: [{ words: overturned, kind: 'words' }, ...notJudged] };
  const alternatives: PixelCondition[][] = [[]];
  let before: PictureClause | null = null;
  for (const { joiner, hasWord, tokens: words } of splitClauses(beforeEachWithout(tokens))) {
    const clause = readPictureClause(words, before);
    for (const ignored of clause.notJudged) notJudged.push({ words: ignored, kind: 'words' });
    // ", tell me" and ", in the yard" are ignored; "and a person falls", ", a person falls" and ", and in the yard smoke rises" are conditions.
    const isAside = joiner === 'comma' && !hasWord && asides.has(words[0] ?? '');
    const isIgnored = clause.notJudged.length === 0 || isAside;
    const condition = clause.condition ?? (isIgnored ? null : { kind: 'unmeasurable' });
    if (condition === null) continue;
    addTo(alternatives, condition, isChoice(joiner) && !(clause.bare && clause.negated));
    before = clause;
  }
  const condition = joinAlternatives(alternatives.filter(isMeasurable));
  return { condition, notJudged: condition === null ? notJudged : notJudged.map(withPlace) };
}

function isMeasurable(all: PixelCondition[]): boolean {
  return all.some(({ kind }) => kind !== 'unmeasurable');
}

function withPlace(part: UnjudgedPart): UnjudgedPart {
  return viewedPlaces.has(part.words) ? { ...part, kind: 'place' } : part;
}

/** Returns the objects that a question names, each as an atom of at least one. */
export function readNouns(text: string): ObjectsAtom[] {
  return plainSentence(text)
    .split(' ')
    .flatMap((token) => {
      const noun = findNoun(token);
      return noun === null
        ? []
        : [{ kind: 'objects', classes: noun.classes, compare: 'at least', count: 1, colors: [] }];
    });
}

type Joiner = 'and' | 'comma' | 'or' | 'nor';
/** A clause and what precedes it; `hasWord` is true if "and", "but" or "while" does, also behind a comma. */
type Segment = { joiner: Joiner; hasWord: boolean; tokens: string[] };

function toTokens(sentence: string): string[] {
  return sentence.split(' ').filter((token) => token !== '');
}

/** "A red box without a blue one" has two clauses. */
function beforeEachWithout(tokens: string[]): string[] {
  return tokens.flatMap((token) => (token === 'without' ? ['and', token] : [token]));
}

/** Words that begin a clause about objects; beside measurements they mean nothing: "tell me when it is dark". */
const objectJoiners = /^(?:when|if|where)$/;

function splitClauses(tokens: string[], more?: RegExp): Segment[] {
  const segments: Segment[] = [];
  let joiner: Joiner = 'and';
  let hasWord = false;
  let words: string[] = [];
  for (const word of [...tokens, 'and']) {
    if (!/^(?:,|and|but|while|or|nor)$/.test(word) && more?.test(word) !== true) {
      words.push(word);
      continue;
    }
    if (words.length > 0) {
      segments.push({ joiner, hasWord, tokens: words });
      joiner = 'and';
      hasWord = false;
    }
    hasWord ||= /^(?:and|but|while)$/.test(word);
    // ", or" and "or," are one joiner.
    if (word === 'or' || word === 'nor') joiner = word;
    else if (word === ',' && joiner === 'and' && segments.length > 0) joiner = 'comma';
    words = [];
  }
  return segments;
}

function isChoice(joiner: Joiner): boolean {
  return joiner === 'or' || joiner === 'nor';
}

function addTo<Of>(alternatives: Of[][], condition: Of, isAlternative: boolean): void {
  if (isAlternative) alternatives.push([condition]);
  else alternatives.at(-1)?.push(condition);
}

function joinAlternatives<Part>(alternatives: Logic<Part>[][]): Logic<Part> | null {
  const filled = alternatives.filter((all) => all.length > 0).map((all) => join('all', all));
  return filled.length === 0 ? null : join('any', filled);
}

function joinClauses(segments: Segment[]): { clauses: ObjectClause[]; condition: Condition | null } {
  const alternatives: Condition[][] = [[]];
  const clauses: ObjectClause[] = [];
  for (const { joiner, tokens } of segments) {
    const before = clauses.at(-1);
    const continues =
      joiner === 'nor' || (before?.isNounPhrase === true && before.beginsNegated && startsBare(tokens));
    const clause = readSegment(tokens, before, continues);
    clauses.push(clause);
    if (clause.condition === null) continue;
    // "No people or cars" excludes both.
    const isAlternative = joiner === 'or' && !continues;
    if (!isAlternative && before !== undefined && areDistinct(before, clause))
      addListed(alternatives.at(-1) ?? [], clause.condition);
    else addTo(alternatives, clause.condition, isAlternative);
  }
  return { clauses, condition: joinAlternatives(alternatives) };
}

/** "Isn't there a person?" expects the answer yes or no to "there is a person", by tone. */
function isNegativeQuestion(text: string): boolean {
  return /^\s*(?:is|are|was|were|do|does|has|have|can)n['’]?t\b/i.test(text);
}

/** Returns the word that overturns the sentence. In "any animal but a dog", "but" is one; in "a cat but no dog" and "a cat is there but a dog is too" it joins. */
function findOverturning(tokens: string[]): string | undefined {
  return tokens.find(
    (token, at) =>
      overturning.has(token) || token === 'than' || (token === 'but' && isException(tokens, at + 1)),
  );
}

function isException(tokens: string[], from: number): boolean {
  const end = tokens.findIndex((token, at) => at >= from && /^(?:,|and|or|nor|but)$/.test(token));
  const words = tokens.slice(from, end === -1 ? undefined : end);
  return words.every((word) => findNoun(word) !== null || determiners.has(word) || colorNamed(word) !== null);
}

function toUnjudgedPart(tokens: string): UnjudgedPart {
  const words = asWritten(tokens);
  const narrower = tokens.split(', ').map((token) => findNoun(token));
  if (narrower.every((noun) => noun !== null && noun.narrower !== null)) {
    const classes = new Set(narrower.flatMap((noun) => noun?.classes ?? []));
    return { words, kind: 'narrower', countsAs: [...classes].join(' or ') };
  }
  const [first = '', ...more] = tokens.split(' ');
  const isPlace = more.length > 0 && (prepositions.has(first) || reachingVerbs.has(first));
  return { words, kind: isPlace ? 'place' : 'words' };
}

/** Replaces the tokens of the grammar by words. */
function asWritten(token: string): string {
  return token
    .replaceAll('vague_number', 'an amount without a number')
    .replaceAll('possession', "'s")
    .replaceAll(/\blights(on|off)\b/g, 'lights $1')
    .replaceAll('further_ones', 'other')
    .replaceAll('worn_', '')
    .replaceAll(/#(?:least|most|exact):/g, '')
    .replaceAll('|', ' or ')
    .replaceAll('_', ' ');
}

/** Joins "a dog or a cat" and "dogs, cats or birds" into one choice of nouns, "dog|cat". */
function joinedNouns(tokens: string[]): string[] {
  const joined: string[] = [];
  for (let at = 0; at < tokens.length;) {
    const choice = readChoice(tokens, at);
    joined.push(choice.token);
    at = choice.end;
  }
  return joined;
}

function readChoice(tokens: string[], at: number): { token: string; end: number } {
  const nouns = [tokens[at] ?? ''];
  // "Two people or a dog" and "a red car or a truck" are no choice of two nouns.
  const isPlain = at === 0 || /^(?:an?|any|some|no|neither|either)$/.test(tokens[at - 1] ?? '');
  let end = at + 1;
  let hasOr = false;
  while (findNoun(nouns[0] ?? '') !== null) {
    let next = end;
    if (tokens[next] === ',') next += 1;
    const isOr = /^n?or$/.test(tokens[next] ?? '');
    if (isOr) next += 1;
    if (next === end) break;
    // "Nobody or a dog": the article begins another object, which "no" does not deny.
    const isDenied = tokens[at - 1] === 'no';
    if (isPlain && (isDenied ? /^any$/ : /^(?:an?|any|some)$/).test(tokens[next] ?? '')) next += 1;
    const noun = tokens[next] ?? '';
    if (findNoun(noun) === null) break;
    nouns.push(noun);
    hasOr ||= isOr;
    end = next + 1;
  }
  return hasOr ? { token: nouns.join('|'), end } : { token: tokens[at] ?? '', end: at + 1 };
}

/** Joins the commas of a list that ends with "or" by "or": "a dog, a red car or two people". */
function withLists(segments: Segment[]): Segment[] {
  const listed = [...segments];
  for (let at = listed.length - 1; at > 1; at -= 1) {
    const [first, item] = [listed[at - 2], listed[at - 1]];
    if (listed[at]?.joiner !== 'or' || item?.joiner !== 'comma' || !first) continue;
    if (isListed(first) && isListed(item)) listed[at - 1] = { ...item, joiner: 'or' };
  }
  return listed;
}

/** Returns true for objects without a verb but "there is", and without "no". */
function isListed({ tokens }: Segment): boolean {
  const rest = tokens[0] === 'there' ? tokens.slice(2) : tokens;
  const { isNounPhrase, beginsNegated } = readObjectClause(rest, false);
  return isNounPhrase && !beginsNegated;
}

/**
 * Returns true if the objects of two clauses cannot be the same: "a man and a woman", "a man is here and a woman is there". In "a person is
 * at the door and a person is on the stairs" they can.
 */
function areDistinct(before: ObjectClause, clause: ObjectClause): boolean {
  const [kind, otherKind] = [narrowerWord(before), narrowerWord(clause)];
  return before.isNounPhrase || (kind !== undefined && otherKind !== undefined && kind !== otherKind);
}

function narrowerWord({ notJudged }: ObjectClause): string | undefined {
  return notJudged.find((word) => findNoun(word) !== null);
}

/** Adds an object to others. Those of one class are counted together: a man and a woman are two persons. */
function addListed(list: Condition[], condition: Condition): void {
  const added = condition.kind === 'all' ? condition.of[0] : condition;
  const at = list.findLastIndex(
    (part) => isCounted(part) && isCounted(added) && isOfSameClasses(part, added),
  );
  const same = list[at];
  if (isCounted(same) && isCounted(added)) list[at] = { ...same, count: same.count + added.count };
  if (at === -1 || added !== condition) list.push(condition);
}

function isCounted(part: Condition | undefined): part is ObjectsAtom {
  return part?.kind === 'objects' && part.compare === 'at least' && part.colors.length === 0;
}

function isOfSameClasses(a: ObjectsAtom, b: ObjectsAtom): boolean {
  return a.classes.join() === b.classes.join();
}

function startsBare([first = '']: string[]): boolean {
  return findNoun(first) !== null || first === 'any';
}

function readSegment(tokens: string[], before: ObjectClause | undefined, continuesNo: boolean): ObjectClause {
  if (tokens.some((token) => findNoun(token) !== null)) {
    if (before?.endsWithPlace === true && isPlaceOnly(tokens)) return nothing(tokens);
    return readObjectClause(tokens, continuesNo);
  }
  if (prepositions.has(tokens[0] ?? '') && readPlace(tokens, 0) === tokens.length) return nothing(tokens);
  const picture = readPictureSegment(tokens);
  if (picture.condition?.kind !== 'unmeasurable') return picture;
  if (
    before?.endsWithPlace === true &&
    tokens.every((token) => placeWords.has(token) || determiners.has(token))
  )
    return nothing(tokens);
  if (tokens.every((token) => fillers.has(token) || determiners.has(token))) return nothing([]);
  return picture;
}

/** "Next to the car and the truck": an object with an article, and nothing else, continues a place. */
function isPlaceOnly(tokens: string[]): boolean {
  return (
    tokens[0] === 'the' && tokens.slice(1).every((token) => findNoun(token) !== null || placeWords.has(token))
  );
}

/** Reads "it is dark" and "something moves" beside an object. Whatever else it says may be about the object: "and wears red". */
function readPictureSegment(tokens: string[]): ObjectClause {
  const clause = readPictureClause(tokens, null);
  const isAboutPicture =
    tokens.some((token) => pictureSubjects.has(token)) ||
    isAboutLight(parseMeasurements(tokens.join(' ')).condition);
  const understood =
    clause.condition !== null && clause.notJudged.every((word) => word === lampsOn) && isAboutPicture;
  return {
    ...nothing(
      understood
        ? clause.notJudged
        : tokens.filter((token) => !fillers.has(token) && !determiners.has(token)),
    ),
    condition: understood ? clause.condition : { kind: 'unmeasurable' },
    endsWithPlace: false,
  };
}

function isAboutLight(condition: PixelCondition | null): boolean {
  return (
    condition !== null &&
    listParts(condition).every(({ kind }) => ['dark', 'bright', 'unmeasurable'].includes(kind))
  );
}

function nothing(notJudged: string[]): ObjectClause {
  return {
    condition: null,
    notJudged: notJudged.length === 0 ? [] : [notJudged.join(' ')],
    endsWithPlace: true,
    isNounPhrase: false,
    beginsNegated: false,
  };
}

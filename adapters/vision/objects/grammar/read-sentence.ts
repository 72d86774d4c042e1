import { splitTimes } from '../../../../core/advice/times.ts';
import type { UnjudgedPart } from '../../../../core/ports/vision-model.ts';
import { type Clause, lampsOn, readClause } from '../../pixel/read-clause.ts';
import { parseCondition } from '../../pixel/parse-condition.ts';
import type { Condition } from '../../pixel/condition.ts';
import { join, listParts } from '../../pixel/logic.ts';
import type { ObjectCondition, ObjectsAtom, Reading } from './condition.ts';
import { foreignLanguage } from './languages.ts';
import { findNoun } from './nouns.ts';
import { plainSentence } from './plain-sentence.ts';
import { type ObjectClause, readObjectClause } from './read-clause.ts';
import { colorNamed, overturning } from '../../pixel/vocabulary.ts';
import { readPlace } from './read-place.ts';
import { determiners, fillers, pictureSubjects, placeWords, prepositions, reachingVerbs } from './words.ts';

/**
 * Reads a condition about objects, or returns null if it names no object: then the pixel model reads it.
 *
 * - Clauses are joined by "and", "but" or commas (all must hold), or by "or" (one suffices; "and" binds closer).
 * - A clause has objects with a number ("two", "at least 3", "no"), a color, and verbs of presence ("is", "appears", "stands").
 * - A place ("at the door") is no requirement, and neither is a time ("at night") or a narrower word ("a taxi" is a car). They are named as not judged.
 * - Any other word makes its clause undecided: the condition is false if an object is absent, and never true.
 */
export function readSentence(sentence: string): Reading | null {
  const { rest: text, times } = splitTimes(sentence);
  const tokens = joinedNouns(
    plainSentence(text)
      .split(' ')
      .filter((token) => token !== ''),
  );
  if (!tokens.some((token) => findNoun(token) !== null)) return null;
  if (foreignLanguage(text) !== null) return { condition: null, notJudged: [] };
  const overturned = isNegativeQuestion(text) ? 'not' : findOverturning(tokens);
  const { clauses, condition } = joinClauses(splitClauses(tokens));
  const notJudged = [
    ...clauses.flatMap((clause) => clause.notJudged).map(toUnjudgedPart),
    ...times.map((words) => ({ words, kind: 'time' as const })),
  ];
  if (overturned !== undefined)
    return {
      condition: { kind: 'unmeasurable' },
      notJudged: [{ words: overturned, kind: 'words' }, ...notJudged],
    };
  return { condition, notJudged };
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

type Joiner = 'and' | 'comma' | 'or' | 'nor';
type Segment = { joiner: Joiner; tokens: string[] };

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

function splitClauses(tokens: string[]): Segment[] {
  const segments: Segment[] = [];
  let joiner: Joiner = 'and';
  let words: string[] = [];
  for (const word of [...tokens, 'and']) {
    if (!/^(?:,|and|but|while|when|if|where|or|nor)$/.test(word)) {
      words.push(word);
      continue;
    }
    if (words.length > 0) {
      segments.push({ joiner, tokens: words });
      joiner = 'and';
    }
    // ", or" is one joiner.
    if (word === 'or' || word === 'nor') joiner = word;
    else if (word === ',' && segments.length > 0) joiner = 'comma';
    words = [];
  }
  return withLists(segments);
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

function joinClauses(segments: Segment[]): { clauses: ObjectClause[]; condition: ObjectCondition | null } {
  const alternatives: ObjectCondition[][] = [[]];
  const clauses: ObjectClause[] = [];
  for (const { joiner, tokens } of segments) {
    const before = clauses.at(-1);
    const continues =
      joiner === 'nor' || (before?.isNounPhrase === true && before.beginsNegated && startsBare(tokens));
    const clause = readSegment(tokens, before, continues);
    clauses.push(clause);
    if (clause.condition === null) continue;
    // "No people or cars" excludes both.
    if (joiner === 'or' && !continues) alternatives.push([clause.condition]);
    else if (before !== undefined && areDistinct(before, clause))
      addListed(alternatives.at(-1) ?? [], clause.condition);
    else alternatives.at(-1)?.push(clause.condition);
  }
  const filled = alternatives.filter((all) => all.length > 0);
  if (filled.length === 0) return { clauses, condition: null };
  return {
    clauses,
    condition: join(
      'any',
      filled.map((all) => join('all', all)),
    ),
  };
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
function addListed(list: ObjectCondition[], condition: ObjectCondition): void {
  const added = condition.kind === 'all' ? condition.of[0] : condition;
  const at = list.findLastIndex(
    (part) => isCounted(part) && isCounted(added) && isOfSameClasses(part, added),
  );
  const same = list[at];
  if (isCounted(same) && isCounted(added)) list[at] = { ...same, count: same.count + added.count };
  if (at === -1 || added !== condition) list.push(condition);
}

function isCounted(part: ObjectCondition | undefined): part is ObjectsAtom {
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
  const clause: Clause = readClause(tokens, null);
  const isAboutPicture =
    tokens.some((token) => pictureSubjects.has(token)) ||
    isAboutLight(parseCondition(tokens.join(' ')).condition);
  const understood =
    clause.condition !== null && clause.ignored.every((word) => word === lampsOn) && isAboutPicture;
  return {
    ...nothing(
      understood ? clause.ignored : tokens.filter((token) => !fillers.has(token) && !determiners.has(token)),
    ),
    condition: understood ? clause.condition : { kind: 'unmeasurable' },
    endsWithPlace: false,
  };
}

function isAboutLight(condition: Condition | null): boolean {
  return (
    condition !== null &&
    listParts(condition).every(({ kind }) => ['dark', 'bright', 'unmeasurable'].includes(kind))
  );
}

function nothing(notJudged: string[]): ObjectClause {
  return {
    condition: null,
    notJudged: notJudged.length === 0 ? [] : [notJudged.join(' ')],
    hasObject: false,
    endsWithPlace: true,
    isNounPhrase: false,
    beginsNegated: false,
  };
}

import { splitTimes } from '../../../core/advice/times.ts';
import type { UnjudgedPart } from '../../../core/ports/vision-model.ts';
import type { Condition } from './condition.ts';
import { join } from './logic.ts';
import { plainWords } from './plain-words.ts';
import { type Clause, readClause } from './read-clause.ts';
import { asides, overturning, viewedPlaces } from './vocabulary.ts';

/** Parse result of a condition. */
export type ParsedCondition = {
  /** Null if nothing in it is measurable. */
  condition: Condition | null;
  /** Words without a measurable meaning: "car" in "a red car", and times of day. */
  ignored: UnjudgedPart[];
};

/**
 * Parses a condition by a small grammar and ignores the rest of the sentence:
 *
 * - clauses are joined by "and", "but", "while" or commas (all must hold), or by "or" and "nor" (one suffices; "and" binds closer);
 * - a clause consists of colors, "dark", "bright", "blank", "motion" and their synonyms, all of which must hold;
 * - the amount of a color is "at least 20 %", "more than 5 %", "half", "mostly" (50 %), "all" or "entirely" (90 %). "The
 *   picture is red" and "a red screen" mean 50 % (90 % for black), "large" a region of 2 % of the frame, "small" one of 0.1 %. The
 *   default is a connected region of 0.5 %: "a red box", "something red appears", "red light";
 * - a clause is negated by "no", "not", "without", "is gone" or "disappears"; two negations cancel out;
 * - "dark" and "bright" count for the picture, or for a place that the camera views whole: "the room is dark", not "a dark figure";
 * - a time ("for 5 minutes"), a number of things ("two red boxes") and that lamps are on never hold for certain.
 *
 * "Unless", "until", "except" and the like overturn a whole condition. A clause without any of these is undecidable. Joined by "and", it makes the whole condition undecidable.
 */
export function parseCondition(text: string): ParsedCondition {
  const alternatives: Condition[][] = [[]];
  const { rest, times } = splitTimes(text);
  const ignored: UnjudgedPart[] = times.map((words) => ({ words, kind: 'time' }));
  let before: Clause | null = null;
  const plain = plainWords(rest);
  const overturned = plain.split(' ').find((word) => overturning.has(word));
  if (overturned !== undefined)
    return { condition: null, ignored: [{ words: overturned, kind: 'words' }, ...ignored] };
  for (const { joiner, words } of splitClauses(plain)) {
    const clause = readClause(words, before);
    for (const words of clause.ignored) ignored.push({ words, kind: 'words' });
    const alternative = (joiner === 'or' || joiner === 'nor') && !(clause.bare && clause.negated);
    const condition = clause.condition ?? unmeasurable(clause, joiner, words);
    if (condition === null) continue;
    if (alternative) alternatives.push([condition]);
    else alternatives.at(-1)?.push(condition);
    before = clause;
  }
  const read = alternatives.filter((all) => all.some((part) => part.kind !== 'unmeasurable'));
  if (read.length === 0) return { condition: null, ignored };
  for (const part of ignored) if (viewedPlaces.has(part.words)) part.kind = 'place';
  return {
    condition: join(
      'any',
      read.map((all) => join('all', all)),
    ),
    ignored,
  };
}

type SplitClause = { joiner: string; words: string[] };

function splitClauses(text: string): SplitClause[] {
  const clauses: SplitClause[] = [];
  let joiner = '';
  let words: string[] = [];
  for (const word of [...text.split(' '), 'and']) {
    // "A red box without a blue one" has two parts.
    if (word === 'without' && words.length > 0) {
      clauses.push({ joiner, words });
      joiner = 'and';
      words = [];
    }
    if (!/^(?:,|and|but|while|or|nor)$/.test(word)) {
      words.push(word);
      continue;
    }
    // ", and" is one joiner. A leading joiner is ignored.
    if (words.length > 0) clauses.push({ joiner, words });
    if (words.length > 0 || word !== ',') joiner = word;
    words = [];
  }
  return clauses;
}

/** ", tell me" and ", in the yard" have no measurable meaning and are ignored; "and a person falls" and ", a person falls" are conditions. */
function unmeasurable(clause: Clause, joiner: string, [first = '']: string[]): Condition | null {
  const isAside = joiner === ',' && asides.has(first);
  return clause.ignored.length === 0 || isAside ? null : { kind: 'unmeasurable' };
}

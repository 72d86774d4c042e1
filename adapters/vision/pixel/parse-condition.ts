import type { Condition } from './condition.ts';
import { join } from './logic.ts';
import { plainWords } from './plain-words.ts';
import { type Clause, readClause } from './read-clause.ts';

/** Parse result of a condition. */
export type ParsedCondition = {
  /** Null if nothing in it is measurable. */
  condition: Condition | null;
  /** Words without a measurable meaning: "car" in "a red car". */
  ignored: string[];
};

/**
 * Parses a condition by a small grammar and ignores the rest of the sentence:
 *
 * - clauses are joined by "and", "but", "while" or commas (all must hold), or by "or" and "nor" (one suffices; "and" binds closer);
 * - a clause consists of colors, "dark", "bright", "blank", "motion" and their synonyms, all of which must hold;
 * - the amount of a color is "at least 20 %", "more than 5 %", "half", "mostly" (50 %), "all" or "entirely" (90 %). "The
 *   picture is red" and "a red screen" mean 50 % (90 % for black), "large" a region of 2 % of the frame, "small" one of 0.1 %. The
 *   default is a connected region of 0.5 %: "a red box", "something red appears", "red light";
 * - a clause is negated by "no", "not", "without", "is gone" or "disappears"; two negations cancel out.
 *
 * A clause without any of these is undecidable. Joined by "and", it makes the whole condition undecidable.
 */
export function parseCondition(text: string): ParsedCondition {
  const alternatives: Condition[][] = [[]];
  const ignored: string[] = [];
  let before: Clause | null = null;
  for (const { joiner, words } of splitClauses(plainWords(text))) {
    const clause = readClause(words, before);
    ignored.push(...clause.ignored);
    const alternative = (joiner === 'or' || joiner === 'nor') && !(clause.bare && clause.negated);
    const condition = clause.condition ?? unmeasurable(clause, joiner);
    if (condition === null) continue;
    if (alternative) alternatives.push([condition]);
    else alternatives.at(-1)?.push(condition);
    before = clause;
  }
  const read = alternatives.filter((all) => all.some((part) => part.kind !== 'unmeasurable'));
  if (read.length === 0) return { condition: null, ignored };
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

/** ", tell me" has no measurable meaning and is ignored; "and a person falls" is a condition. */
function unmeasurable(clause: Clause, joiner: string): Condition | null {
  return clause.ignored.length === 0 || joiner === ',' ? null : { kind: 'unmeasurable' };
}

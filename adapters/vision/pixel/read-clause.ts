import type { Condition } from './condition.ts';
import { join } from './logic.ts';
import { colorAtom, type Extent, readExtent } from './read-extent.ts';
import {
  blankWords,
  brightWords,
  colorNamed,
  darkWords,
  isFiller,
  litWords,
  motionlessWords,
  motionWords,
  negations,
} from './vocabulary.ts';

/** Part of a condition between "and", "or", "but" and commas. */
export type Clause = {
  /** Null if nothing in the clause is measurable. */
  condition: Condition | null;
  negated: boolean;
  /** Extent of its last color. */
  extent: Extent | null;
  /** True if the clause is only a color: it continues the previous clause, as "blue" in "no red or blue". */
  bare: boolean;
  /** Words without a measurable meaning. */
  ignored: string[];
};

/** Parses a clause. `before` is the previous clause, which a bare one continues. */
export function readClause(words: string[], before: Clause | null): Clause {
  const bare = words.every(
    (word) => colorNamed(word) !== null || /^(?:a|an|any|the|some|either)$/.test(word),
  );
  const inherits = bare && before !== null && before.condition !== null;
  const inherited = inherits ? before.extent : null;
  let extent: Extent | null = null;
  const found: Condition[] = [];
  for (const [at, word] of words.entries()) {
    const color = colorNamed(word);
    if (color !== null) {
      extent = inherited ?? readExtent(words, at);
      found.push(colorAtom(color, extent));
    } else {
      const other = otherMeasurable(word);
      if (other !== null) found.push(other);
    }
  }
  const negated = inherits ? before.negated : words.filter((word) => negations.has(word)).length % 2 === 1;
  return {
    condition: found.length === 0 ? null : negatedIf(negated, join('all', found)),
    negated,
    extent,
    bare,
    ignored: words.filter(
      (word) => !isFiller(word) && colorNamed(word) === null && otherMeasurable(word) === null,
    ),
  };
}

function otherMeasurable(word: string): Condition | null {
  if (darkWords.has(word)) return { kind: 'dark' };
  if (brightWords.has(word)) return { kind: 'bright' };
  if (litWords.has(word)) return { kind: 'not', of: { kind: 'dark' } };
  if (blankWords.has(word)) return { kind: 'blank' };
  if (motionWords.has(word)) return { kind: 'motion' };
  if (motionlessWords.has(word)) return { kind: 'not', of: { kind: 'motion' } };
  return null;
}

function negatedIf(negated: boolean, condition: Condition): Condition {
  return negated ? { kind: 'not', of: condition } : condition;
}

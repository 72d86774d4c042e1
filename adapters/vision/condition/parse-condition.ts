import { splitTimes } from '../../../core/advice/times.ts';
import type { UnjudgedPart } from '../../../core/ports/vision-model.ts';
import { type Condition, join, listParts, type Reading } from './condition.ts';
import { findNoun } from './nouns.ts';
import { type Clause, readClause } from './read-clause.ts';
import { readTokens } from './read-tokens.ts';
import { isFiller, overturning, readColors } from './vocabulary.ts';

/**
 * Reads a condition for the built-in model, and names the parts that it does not judge.
 *
 * - A sentence is clauses that all hold ("and", "but", "while", commas), or of which one suffices ("or").
 * - A clause is objects with a number ("two", "at least 3", "no"), a color and words of presence.
 * - Without objects, it measures the picture: colors with an extent ("half", "mostly"), "dark", "bright", "blank",
 *   "motion".
 * - "Not" and "is gone" deny a clause, "no" the next object.
 * - A place ("at the door") is no requirement, and neither is a time ("at night"), a narrower word ("a taxi" is a car)
 *   or "on" before what one rides.
 * - A clause with any other word is never true, and false if one of its objects is absent.
 * - "Unless", "until" and the like overturn a whole sentence, and so does "and" beside "or".
 */
export function parseCondition(text: string): Reading {
  const { rest, times } = splitTimes(text);
  const tokens = readTokens(rest);
  const segments = splitClauses(tokens);
  const stated = segments.filter(({ clause }) => clause.condition !== null);
  const isChoice = stated.slice(1).some(({ joiner }) => joiner === 'or');
  const conditions = stated.flatMap(({ clause }) => clause.condition ?? []);
  const overturned = [
    ...segments.flatMap(({ words }) =>
      words.filter((word) => overturning.has(word) || /^[<>=≤≥|&]+$/.test(word)),
    ),
    // "Isn't there a person?" expects the answer yes or no to "there is a person", by tone.
    ...(/^\s*(?:is|are|was|were|do|does|has|have|can)n['’]?t\b/i.test(rest) ? ['not'] : []),
    ...listAmbiguities(stated, isChoice),
  ];
  const condition = join(isChoice ? 'any' : 'all', conditions);
  const isJudged =
    overturned.length === 0 && listParts(condition).some(({ kind }) => kind !== 'unmeasurable');
  const parts: UnjudgedPart[] = [
    ...overturned.map((words) => ({ words, kind: 'words' as const })),
    ...segments.flatMap(({ clause }) => clause.notJudged),
  ].map((part) => ({ ...part, words: asWritten(part.words) }));
  const notJudged = parts.filter(
    ({ words }, index) => parts.findIndex((part) => part.words === words) === index,
  );
  return {
    condition: isJudged ? condition : null,
    notJudged: [...notJudged, ...times.map((words) => ({ words, kind: 'time' as const }))],
  };
}

/** Clause, with its words and how it is joined to the one before. */
type Segment = { joiner: 'and' | 'comma' | 'or'; words: string[]; clause: Clause };

/** Phrases around a condition, which are not part of it. */
const requests =
  /^(?:(?:please|hey|hi|hello|kindly|also|(?:just|only)(?= (?:alert|tell|notify|let))|then|there (?:is|are)|would|could you|can you|i would like|i want|i need|(?:(?:do|can|could) )?(?:you|we|i) (?:can )?see|to|be (?:told|alerted|notified|informed)|you|know|tell|alert|notify|warn|inform|let|send|raise|me|us|immediately|an? (?:alert|alarm|notification|message)|once|that|as soon as|every time|whether|whenever|check|detect|look|watch|out|for|make sure|see|thanks|(?:the |my |our )?(?:camera|picture|video|image|screen) (?:shows?|sees?|contains?|has))(?= |$) ?)+/;

/** Splits a sentence into clauses. "No people or cars" excludes both. */
function splitClauses(tokens: string[]): Segment[] {
  const segments: Segment[] = [];
  let joiners: string[] = [];
  let words: string[] = [];
  for (const token of [...tokens, 'and']) {
    if (!/^(?:,|and|while|when|if|or)$/.test(token)) {
      words.push(token);
      continue;
    }
    const said = words.join(' ').replace(requests, '').split(' ').filter(Boolean);
    if (said.length > 0) {
      const before = segments.at(-1)?.clause;
      const isNamed = findNoun(said[0]) !== null || said[0] === 'any' || hasColor(said[0] ?? '');
      const isDenied = before?.isDenied === true && before.isBare && isNamed;
      const joiner = isDenied
        ? 'and'
        : joiners.includes('or')
          ? 'or'
          : joiners.every((one) => one === ',')
            ? 'comma'
            : 'and';
      segments.push({ joiner, words: said, clause: readClause(isDenied ? ['no', ...said] : said) });
    }
    joiners = words.length > 0 ? [token] : [...joiners, token];
    words = [];
  }
  return segments;
}

/** Lists the joiners that can be read in two ways. */
function listAmbiguities(stated: Segment[], isChoice: boolean): string[] {
  const counted = stated.flatMap(({ clause: { condition } }) => {
    const [part] = condition?.kind === 'all' ? condition.parts : [condition];
    return part?.kind === 'objects' && part.compare === 'at least' && part.colors.length === 0
      ? [part.classes.join()]
      : [];
  });
  // "A man and a woman" may be one person or two.
  const isDoubled = !isChoice && new Set(counted).size < counted.length;
  return stated.slice(1).flatMap((segment, index) => {
    const before = stated[index];
    const { joiner } = segment;
    // "A dog or a cat and a bird", "it is dark, a dog or a cat".
    const isMixed = isChoice && (joiner === 'and' || (joiner === 'comma' && before?.clause.isBare !== true));
    const isUnclear = isMixed || isDoubled || (before && canContinue(before, segment));
    return isUnclear ? [joiner === 'comma' ? ',' : joiner] : [];
  });
}

/** Returns true if a clause may continue the one before, so that its words are about both. */
function canContinue(before: Segment, { joiner, words, clause }: Segment): boolean {
  const [isOr, isNoun] = [joiner === 'or', findNoun(words.at(-1)) !== null];
  // "At least two cars or trucks", "no red car or truck".
  const isLimited = before.words.some((word) => word.startsWith('#') || hasColor(word));
  if ((isOr || clause.isDenied) && words.length === 1 && isNoun && isLimited) return true;
  // "Next to the car and the truck", "in a car or a bus".
  if (before.clause.endsWithPlace && clause.isBare && isNoun && (isOr || words[0] === 'the')) return true;
  // "A red, white car".
  if (isNoun && before.words.every((word) => hasColor(word) || isFiller(word))) return true;
  // "A dog or a cat falls" says that either falls, "a dog and a cat are gone" that both are.
  return before.clause.isBare && !clause.isDenied && isWeakened(clause.condition, isOr);
}

function hasColor(word: string): boolean {
  return readColors(word).length > 0;
}

function isWeakened(condition: Condition | null, isChoice: boolean): boolean {
  const isOpen =
    isChoice && condition !== null && listParts(condition).some(({ kind }) => kind === 'unmeasurable');
  return isOpen || condition?.kind === 'not';
}

/** Replaces the tokens of the grammar by words. */
function asWritten(token: string): string {
  return token
    .replaceAll(/(?:worn_|clad:)/g, '')
    .replaceAll(/#0-(\d+)/g, 'at most $1')
    .replaceAll(/#(\d+)-\d*/g, '$1')
    .replaceAll(/(?<=\w):([\d.]+)/g, ' $1 %')
    .replaceAll(/(?<=\w)\|(?=\w)/g, ' or ')
    .replaceAll('_', ' ');
}

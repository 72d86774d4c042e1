import { colorNamed } from './vocabulary.ts';
import { findNoun } from './nouns.ts';
import {
  adverbialPrepositions,
  determiners,
  fillers,
  placeWords,
  prepositions,
  stateWords,
} from './vocabulary.ts';

/**
 * Returns the number of tokens of a place phrase such as "in front of the blue car", from its preposition on, or 0 if it is not understood. After
 * an article, one unknown noun is a place too ("at the reactor"). A further unknown word may be a verb ("at the gate falls"), so
 * the phrase ends before it.
 */
export function readPlace(tokens: string[], from: number): number {
  let at = from + 1;
  let hasArticle = false;
  let hasNoun = false;
  let unknownAt = -1;
  for (; at < tokens.length; at += 1) {
    const word = tokens[at] ?? '';
    if (stateWords.has(word) && !hasNoun && !placeWords.has(tokens[at + 1] ?? '')) return 0;
    if (stateWords.has(word) && !hasNoun) continue;
    if (
      placeWords.has(word) ||
      (findNoun(word) !== null &&
        !(hasNoun && unknownAt !== at - 1 && findNoun(tokens[at - 1] ?? '') === null))
    ) {
      hasNoun = true;
    } else if (!hasNoun && (determiners.has(word) || /^#\w+:\d+$/.test(word))) hasArticle = true;
    else if (!hasNoun && colorNamed(word) !== null) continue;
    else if (/^(?:\d+|[a-z])$/.test(word) && (hasNoun || at === from + 1) && word !== 'a') hasNoun = true;
    else if (hasNoun && isNumberOfPlace(tokens, at)) continue;
    else if (hasArticle && !hasNoun && isPossibleNoun(word)) {
      hasNoun = true;
      unknownAt = at;
    } else break;
  }
  if (hasNoun) return at - from;
  const preposition = tokens[from] ?? '';
  const next = tokens[from + 1];
  const ends = next === undefined || prepositions.has(next) || fillers.has(next);
  return adverbialPrepositions.has(preposition) && ends ? 1 : 0;
}

/** "In zone 3" names the zone, "in the room 3 people" counts people. */
function isNumberOfPlace(tokens: string[], at: number): boolean {
  const next = tokens[at + 1] ?? '';
  return /^#least:\d+$/.test(tokens[at] ?? '') && findNoun(next) === null && colorNamed(next) === null;
}

function isPossibleNoun(word: string): boolean {
  return (
    !fillers.has(word) &&
    !prepositions.has(word) &&
    !/^(?:not|no|never|with|without|possession|vague_number)$/.test(word) &&
    !word.includes('_')
  );
}

import { stemmer } from 'stemmer';
import { setBounded } from '../set-bounded.ts';

/** Words and stems of sentences, the same on all hosts: a store compares stems and knows no language. */

const maxStemCharacters = 40;
/** Words that nearly every sentence has, or that a query has around what is searched. */
const commonWords = new Set(
  `a an and any are as at be been but by can could did do does every find for from had has have here how i in into is it its me
  my of on or our picture pictures seen show shows some than that the their them then there these they this those to was were
  what when where which who with you your`.split(/\s+/),
);

/** Stems of the newest words: sentences about one camera repeat them. */
const stems = new Map<string, string>();
const maxStems = 5_000;

/** Returns the distinct stems of a text, in its order: letters and digits only, in lower case and without accents. */
export function toStems(text: string): string[] {
  const plain = text.normalize('NFKD').replaceAll(/\p{M}/gu, '').toLowerCase();
  const words = plain.match(/[\p{L}\p{N}]+/gu) ?? [];
  return [...new Set(words.filter((word) => !commonWords.has(word)).map(toStem))];
}

function toStem(word: string): string {
  const before = stems.get(word);
  if (before !== undefined) return before;
  const stem = (/^[a-z]+$/.test(word) ? stemmer(word) : word).slice(0, maxStemCharacters);
  if (word.length <= maxStemCharacters) setBounded(stems, word, stem, maxStems);
  return stem;
}

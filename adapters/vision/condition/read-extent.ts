import type { Color } from '../pixel/colors.ts';
import type { Measurement } from './condition.ts';
import { allWords, copulas, isFiller, largeWords, mostWords, smallWords, wholeNouns } from './vocabulary.ts';

/** Required amount of a color. */
export type Extent =
  | { kind: 'share'; compare: 'at least' | 'more than' | 'at most' | 'less than'; share: number }
  | { kind: 'region'; share: number };

/** Default extent of a colored object: 17×17 pixels of a 320×180 frame. */
const defaultExtent: Extent = { kind: 'region', share: 0.005 };

/** Combines a color and its extent. */
export function colorAtom(color: Color, extent: Extent): Measurement {
  return { ...extent, color };
}

/** Returns the extent in `words` for the color at index `at`. */
export function readExtent(words: string[], at: number): Extent {
  return (
    numbered(words.join(' ')) ?? quantified(words) ?? wholePicture(words, at) ?? sized(words) ?? defaultExtent
  );
}

const fractions: Record<string, number> = { half: 0.5, third: 1 / 3, quarter: 0.25 };
const compares = {
  'at least': /\b(?:at least|minimum)\b/,
  'at most': /\b(?:at most|up to)\b/,
  'more than': /\b(?:more than|over|above|exceeds)\b/,
  'less than': /\b(?:less than|under|below|fewer than)\b/,
} as const;

function numbered(text: string): Extent | null {
  const number = /(?<!\d)(\d+(?:\.\d+)?)%/.exec(text);
  const fraction = /\b(half|third|quarter)\b/.exec(text);
  const share = number === null ? fractions[fraction?.[1] ?? ''] : Number(number[1]) / 100;
  if (share === undefined) return null;
  const before = text.slice(0, (number ?? fraction)?.index);
  for (const compare of ['at least', 'at most', 'more than', 'less than'] as const) {
    if (compares[compare].test(before)) return { kind: 'share', compare, share };
  }
  return { kind: 'share', compare: 'at least', share };
}

function quantified(words: string[]): Extent | null {
  if (words.some((word) => mostWords.has(word))) return { kind: 'share', compare: 'at least', share: 0.5 };
  if (words.some((word) => allWords.has(word))) return { kind: 'share', compare: 'at least', share: 0.9 };
  return null;
}

/** Matches the whole frame: "the screen turns blue", "is the picture red", "a blue screen". */
function wholePicture(words: string[], at: number): Extent | null {
  const next = words[at + 1] ?? '';
  const named = wholeNouns.has(next) && next !== 'it' && next !== 'everything';
  if (!named && !(isPredicate(words, at) && !isNoun(next))) return null;
  // Half of a night scene is black; a black screen is almost completely black.
  return { kind: 'share', compare: 'at least', share: words[at] === 'black' ? 0.9 : 0.5 };
}

function isNoun(word: string): boolean {
  return (
    word !== '' &&
    (!isFiller(word) || /^(?:box|object|area|region|light|spot|patch|thing|part)s?$/.test(word))
  );
}

/** Returns true if the color describes a noun for the whole frame, unlike in "a car in the picture is red". */
function isPredicate(words: string[], at: number): boolean {
  let before = at - 1;
  while (before >= 0 && /^(?:now|suddenly|quite|very|not|again|\w+ly)$/.test(words[before] ?? ''))
    before -= 1;
  const noun = words.slice(0, before + 1).findLastIndex((word) => wholeNouns.has(word));
  if (noun === -1) return false;
  const linked = noun === before || copulas.has(words[before] ?? '');
  const within = words.slice(Math.max(noun - 2, 0), noun).some((word) => /^(?:in|on|of|at|from)$/.test(word));
  return linked && !within;
}

function sized(words: string[]): Extent | null {
  if (words.some((word) => largeWords.has(word))) return { kind: 'region', share: 0.02 };
  if (words.some((word) => smallWords.has(word))) return { kind: 'region', share: 0.001 };
  return null;
}

import type { PixelCondition } from './condition.ts';
import { join } from './logic.ts';
import { colorAtom, type Extent, readExtent } from './read-extent.ts';
import {
  blankWords,
  brightnessAdverbs,
  brightWords,
  colorNamed,
  darkWords,
  isFiller,
  lightsOff,
  lightsOn,
  litWords,
  motionlessWords,
  motionWords,
  negations,
  partWords,
  timeWords,
  viewedPlaces,
  wholeNouns,
} from './vocabulary.ts';

/** Part of a condition between "and", "or", "but" and commas. */
export type PictureClause = {
  /** Null if nothing in the clause is measurable. */
  condition: PixelCondition | null;
  negated: boolean;
  /** Extent of its last color. */
  extent: Extent | null;
  /** True if the clause is only a color: it continues the previous clause, as "blue" in "no red or blue". */
  bare: boolean;
  /** Words without a measurable meaning. */
  notJudged: string[];
};

const unmeasurable: PixelCondition = { kind: 'unmeasurable' };
/** Name in `ignored` of lamps that are on: a bright picture may be daylight. */
export const lampsOn = 'lights on';

/** Parses a clause. `before` is the previous clause, which a bare one continues. */
export function readPictureClause(words: string[], before: PictureClause | null): PictureClause {
  const bare = words.every(
    (word) => colorNamed(word) !== null || /^(?:a|an|any|the|some|either)$/.test(word),
  );
  const inherits = bare && before !== null && before.condition !== null;
  const inherited = inherits ? before.extent : null;
  const isView = words.some(isBrightness) && isAboutView(words);
  const negatedTwice = words.filter((word) => negations.has(word)).length !== 1;
  const negated = inherits ? before.negated : negatedTwice ? isOdd(words) : true;
  let extent: Extent | null = null;
  const found: { part: PixelCondition; at: number }[] = [];
  for (const [at, word] of words.entries()) {
    const color = colorNamed(word);
    if (color !== null) {
      extent = inherited ?? readExtent(words, at);
      found.push({ part: colorAtom(color, extent), at });
    } else {
      const other = isView || !isBrightness(word) ? otherMeasurable(word, negated) : unmeasurable;
      if (other !== null) found.push({ part: other, at });
    }
  }
  return {
    condition: found.length === 0 ? null : conclude(words, found, negated, inherits || negatedTwice),
    negated,
    extent,
    bare,
    notJudged: words.flatMap((word, at) =>
      !isView && isBrightness(words[at - 1] ?? '') ? [] : nameIgnored(word, words[at + 1] ?? '', isView),
    ),
  };
}

function isOdd(words: string[]): boolean {
  return words.filter((word) => negations.has(word)).length % 2 === 1;
}

/** "Red, not blue" denies only what follows "not"; "the red box is not there" denies all. */
function conclude(
  words: string[],
  found: { part: PixelCondition; at: number }[],
  negated: boolean,
  deniesAll: boolean,
): PixelCondition {
  const turn = deniesAll ? -1 : words.findIndex((word) => negations.has(word));
  const denied = found.filter(({ at }) => at > turn);
  const stated = denied.length === 0 ? [] : found.filter(({ at }) => at < turn);
  const rest = denied.length === 0 ? found : denied;
  const parts = [...stated.map(({ part }) => part), negatedIf(negated, joined(rest))];
  return join('all', hasMore(words) ? [...parts, unmeasurable] : parts);
}

function joined(found: { part: PixelCondition }[]): PixelCondition {
  return join(
    'all',
    found.map(({ part }) => part),
  );
}

/** A time ("for 5 minutes") and a number of things ("two red boxes") are required, and no pixel shows them. */
function hasMore(words: string[]): boolean {
  const hasCount = words.some(
    (word, at) =>
      numerals.test(word) && words.slice(at + 1, at + 3).some((next) => colorNamed(next) !== null),
  );
  const isCounted = / (?:exactly|precisely|single|(?:than|most) one) /.test(` ${words.join(' ')} `);
  const hasColor = words.some((word) => colorNamed(word) !== null);
  return hasCount || (isCounted && hasColor) || words.some((word) => timeWords.has(word));
}

const numerals =
  /^(?:[02-9]|1\d+|[2-9]\d+|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|dozen|several|many|few|couple|both|multiple)$/;

/** The mean brightness is that of the view, so a sentence about anything else in it is not about brightness: "a dark figure", "a dark, tall figure". */
function isAboutView(words: string[]): boolean {
  return words.every(
    (word, at) =>
      !(isBrightness(word) && /^an?$/.test(words[at - 1] ?? '') && !isViewed(words[at + 1] ?? '')) &&
      isOfView(word),
  );
}

function isViewed(word: string): boolean {
  return wholeNouns.has(word) || viewedPlaces.has(word) || brightnessAdverbs.has(word) || isBrightness(word);
}

function isOfView(word: string): boolean {
  return (
    isBrightness(word) ||
    colorNamed(word) !== null ||
    brightnessAdverbs.has(word) ||
    viewedPlaces.has(word) ||
    (isFiller(word) && !partWords.has(word)) ||
    timeWords.has(word)
  );
}

function isBrightness(word: string): boolean {
  return (
    darkWords.has(word) ||
    brightWords.has(word) ||
    litWords.has(word) ||
    word === lightsOn ||
    word === lightsOff
  );
}

function nameIgnored(word: string, next: string, isView: boolean): string[] {
  if (word === lightsOn) return [lampsOn];
  if (word === lightsOff) return isView ? [] : ['lights off'];
  if (isBrightness(word)) return isView ? [] : [isFiller(next) ? word : `${word} ${next}`.trim()];
  if (isView && (viewedPlaces.has(word) || brightnessAdverbs.has(word))) return [];
  return isFiller(word) || colorNamed(word) !== null || otherMeasurable(word, false) !== null ? [] : [word];
}

function otherMeasurable(word: string, negated: boolean): PixelCondition | null {
  if (word === lightsOff || word === lightsOn) return lamps(word === lightsOn, negated);
  if (darkWords.has(word)) return { kind: 'dark' };
  if (brightWords.has(word)) return { kind: 'bright' };
  if (litWords.has(word)) return { kind: 'not', of: { kind: 'dark' } };
  if (blankWords.has(word)) return { kind: 'blank' };
  if (motionWords.has(word)) return { kind: 'motion' };
  if (motionlessWords.has(word)) return { kind: 'not', of: { kind: 'motion' } };
  return null;
}

/** A dark picture has no lamp on. A bright one may be daylight, so that lamps are on is never certain. */
function lamps(on: boolean, negated: boolean): PixelCondition {
  const dark: PixelCondition = { kind: 'dark' };
  if (on === negated) return on ? { kind: 'not', of: dark } : dark;
  return on
    ? { kind: 'all', of: [{ kind: 'not', of: dark }, unmeasurable] }
    : { kind: 'any', of: [dark, unmeasurable] };
}

function negatedIf(negated: boolean, condition: PixelCondition): PixelCondition {
  return negated ? { kind: 'not', of: condition } : condition;
}

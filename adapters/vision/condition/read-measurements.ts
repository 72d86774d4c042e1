import type { Color } from '../pixel/colors.ts';
import { type Condition, join, type Measurement } from './condition.ts';
import * as words from './vocabulary.ts';

const measurements: [ReadonlySet<string>, Condition][] = [
  [words.dark, { kind: 'dark' }],
  [words.bright, { kind: 'bright' }],
  [words.lit, { kind: 'not', part: { kind: 'dark' } }],
  [words.blank, { kind: 'blank' }],
  [words.motion, { kind: 'motion' }],
  [words.still, { kind: 'not', part: { kind: 'motion' } }],
];
const undecided: Condition = { kind: 'unmeasurable' };
const brightness = [words.dark, words.lit, words.bright];
const extents = [words.mostWords, words.allWords, words.largeWords, words.smallWords, words.wholeWords];

/** Reads what is measured in the whole picture. Nothing is judged beside a word that is not understood. */
export function readMeasurements(tokens: readonly string[], places: readonly string[]) {
  const measured = tokens.map((_, index) => findMeasurement(tokens, index));
  const isMeasured = measured.some(Boolean);
  const isBright = tokens.some((token) => brightness.some((list) => list.has(token)));
  const isUnknown = (token: string, index: number) => {
    // "Red, not blue" denies the second color, "red not blue" is not understood.
    if (words.isDenial(token))
      return measured.slice(0, index).some(Boolean) && measured.slice(index).some(Boolean);
    if (measured[index] || words.isFiller(token))
      return (
        measured[index] !== null &&
        isBright &&
        /^an?$/.test(tokens[index - 1] ?? '') &&
        !isView(tokens[index + 1])
      );
    // The mean brightness is that of the view: "something dark" and "the cupboard is dark" are not about it.
    const isBeside =
      extents.some((list) => list.has(token)) || (isBright ? isView(token) : words.things.has(token));
    return !isMeasured || !(isBeside || (!isBright && readShare(token)));
  };
  const unknown = tokens.filter(isUnknown);
  if (isBright) unknown.push(...places.filter((place) => !place.split(' ').slice(1).every(isView)));
  const denials = tokens.filter(words.isDenial);
  if (denials.length > 1) unknown.push(...denials);
  const all = join(
    'all',
    measured.flatMap((part) => part ?? []),
  );
  if (unknown.length > 0) return { condition: undecided, unknown };
  return {
    condition: !isMeasured ? null : denials.length === 1 ? { kind: 'not' as const, part: all } : all,
    unknown,
  };
}

function isView(token = ''): boolean {
  return words.viewedPlaces.has(token) || words.wholeWords.has(token) || words.isFiller(token);
}

/** Returns what a token measures, or null. */
function findMeasurement(tokens: readonly string[], index: number): Condition | null {
  const measurement = measurements.find(([list]) => list.has(tokens[index] ?? ''));
  if (measurement) return measurement[1];
  const colors = words.readColors(tokens[index]).map((color) => readColor(color, tokens, tokens[index + 1]));
  return colors.length === 0 ? null : join('any', colors);
}

function readColor(color: Color, tokens: readonly string[], next = ''): Measurement {
  const has = (list: ReadonlySet<string>) => tokens.some((token) => list.has(token));
  const covers = (share: number) => ({ kind: 'share' as const, color, compare: 'at least' as const, share });
  const share = tokens.map(readShare).find((each) => each !== null);
  if (share) return { ...covers(share.share), ...share };
  if (has(words.mostWords)) return covers(0.5);
  if (has(words.allWords)) return covers(0.9);
  // Half of a night scene is black; a black screen is almost completely black.
  if (has(words.wholeWords) && !words.things.has(next)) return covers(color === 'black' ? 0.9 : 0.5);
  // The default is a region of 17×17 pixels of a 320×180 frame.
  return {
    kind: 'region',
    color,
    share: has(words.largeWords) ? 0.02 : has(words.smallWords) ? 0.001 : 0.005,
  };
}

const compares = ['at least', 'at most', 'more than', 'less than'] as const;

function readShare(token: string) {
  const [name = '', percent] = token.replace('_', ' ').split(':');
  const compare = compares.find((each) => each === name);
  return compare ? { compare, share: Number(percent) / 100 } : null;
}

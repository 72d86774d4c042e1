import { colors, type Color } from './colors.ts';

/** Words of the pixel model's grammar, in lower case. Each color name is one of them. */

const colorNames = new Map<string, Color>([
  ...colors.map((color) => [color, color] satisfies [string, Color]),
  ...named('red', 'reddish crimson scarlet'),
  ...named('yellow', 'yellowish golden'),
  ...named('green', 'greenish lime'),
  ...named('cyan', 'turquoise teal aqua'),
  ...named('blue', 'bluish navy'),
  ...named('purple', 'violet magenta lilac fuchsia'),
  ...named('pink', 'pinkish'),
  ...named('brown', 'brownish'),
  ...named('white', 'whitish'),
  ...named('grey', 'gray greyish grayish silver'),
  ...named('black', 'blackish blackness'),
]);

/** Returns the color that a word names, or null. */
export function colorNamed(word: string): Color | null {
  return colorNames.get(word) ?? null;
}

/** Alternation of all color names, for regular expressions. */
export const anyColor = [...colorNames.keys()].join('|');

export const darkWords = words('dark darkness dim night nighttime gloomy unlit');
export const brightWords = words('bright brightness daylight daytime');
export const litWords = words('lit');
export const blankWords = words('blank');
export const motionWords = words(
  'motion movement moving move moves moved change changes changing changed activity flicker flickers flickering blinks blinking',
);
export const motionlessWords = words('motionless static frozen freezes froze stationary unchanged unmoving');

export const negations = words(
  'no not never none nothing without neither nor absent absence gone disappear disappears disappeared disappearing vanish vanishes vanished missing removed lacks lacking',
);

/** Nouns for the whole frame. */
export const wholeNouns = words(
  'picture screen image frame video scene view display stream feed background everything it',
);
export const copulas = words(
  'is are was be turns turn turned goes go went gets get becomes become became looks look appears seems stays',
);
export const allWords = words(
  'all entire entirely whole wholly completely fully totally full everything only',
);
export const mostWords = words(
  'mostly mainly largely predominantly primarily majority most dominant dominated dominates filled',
);
export const largeWords = words('large big huge');
export const smallWords = words('small little tiny');

/** Words without a meaning of their own in a condition. */
const fillers = words(
  `a an any some the this that these those there here which who what whose one something anything thing things object objects
  area areas region regions part parts patch spot place shape box colour color colours colors light lights lit visible seen see
  shown shows show showing appear appears appeared appearing present exist exists exist contains contain containing has have had having
  does do did can could will would should if when whenever whether in on at of to from into with by for as than then now suddenly
  again still just very quite rather please alert me tell us you i we notify detect detected check while and or but so yes both either
  cover covers covered covering least more less over under above below fewer up about around nearly almost half third quarter
  percent minimum exceeds its their my our been being starts start begins begin comes come outside inside camera light-coloured`,
);

/** Returns true for words that do not count as ignored. */
export function isFiller(word: string): boolean {
  return (
    fillers.has(word) ||
    [copulas, wholeNouns, allWords, mostWords, largeWords, smallWords, negations].some((known) =>
      known.has(word),
    ) ||
    /^[\d.]+%?$/.test(word)
  );
}

function words(list: string): ReadonlySet<string> {
  return new Set(list.split(/\s+/));
}

function named(color: Color, list: string): [string, Color][] {
  return list.split(' ').map((name) => [name, color]);
}

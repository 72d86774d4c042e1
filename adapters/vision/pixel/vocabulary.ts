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
/** Lamps that are on or off, which `plain-words.ts` writes as one word each. */
export const lightsOn = 'lightson';
export const lightsOff = 'lightsoff';
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
/** Places that a camera views whole: "the garage is dark" is about the picture, unlike "the cupboard is dark". */
export const viewedPlaces = words(
  `room rooms bedroom bathroom kitchen hall hallway corridor lobby office garage yard backyard courtyard garden driveway street road
  warehouse factory hangar shed barn stable basement cellar attic loft stairwell staircase tunnel shop store supermarket classroom
  building house station parking lot park platform workshop outdoors indoors`,
);
/** Adverbs of brightness and words of lamps that change nothing of what is measured. */
export const brightnessAdverbs = words(
  `too so really pretty extremely completely almost already getting gets went go goes going gone turned turn turns turning switched switch been
  switches put there currently right day night today tonight again back`,
);
/** Words for a part of the picture: "a dark spot", "something dark". The mean brightness says nothing of it. */
export const partWords = words(
  `something anything thing things object objects area areas region regions part parts patch spot spots place shape box boxes half third
  quarter percent least more less fewer below above under over around corner light lights one`,
);
/** Words of times: a capture shows one moment. */
export const timeWords = words(
  `second seconds minute minutes hour hours days week weeks longer pm am o'clock noon midnight sunset sunrise morning afternoon evening
  weekend tomorrow yesterday usual twice times`,
);
/** First words of a part that says where, or what to do then. */
export const asides = words(
  `in on at near by behind beside inside outside please tell alert notify warn inform let send thanks thank message email call`,
);
/** Words that turn a whole sentence into something else, so that none of it is judged. */
export const overturning = words(
  `unless until except excluding besides_from instead rather without_seeing only_if nobody_but whereas although though if_not because before
  after since should must may might ought would`,
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

import { type Color, colors } from '../pixel/colors.ts';

/** Words of conditions, in lower case. A word that is in none of these lists, and no noun, is not judged. */

const shades =
  'red: reddish crimson scarlet; yellow: yellowish golden; green: greenish lime; cyan: turquoise teal aqua; blue: bluish navy; purple: violet magenta lilac fuchsia; grey: gray greyish silver';
const colorNames = new Map<string, Color>(colors.map((color) => [color, color]));
for (const [color, ...names] of shades.split('; ').map((entry) => entry.split(/:? /)))
  for (const name of names) colorNames.set(name, colors.find((one) => one === color) ?? 'black');

/** Alternation of all color names, for regular expressions. */
export const anyColor = [...colorNames.keys()].join('|');

/** Returns the colors that a token names; "|" joins those of a choice. */
export function readColors(token = ''): Color[] {
  return token.split('|').flatMap((name) => colorNames.get(name) ?? []);
}

/** Brightness, blankness and motion of the whole picture. */
export const dark = words('dark darkness dim night gloomy unlit lights_off');
export const lit = words('lit');
export const bright = words('bright brightness daylight daytime');
export const blank = words('blank');
export const motion = words(
  'motion movement moving move moves moved change changes changing changed activity flickers blinks',
);
export const still = words('motionless static frozen freezes stationary unchanged unmoving');

/** Extents of a color. */
export const mostWords = words('mostly mainly largely predominantly most dominant dominates');
export const allWords = words('all entire entirely whole completely fully totally full everything only');
export const largeWords = words('large big huge');
export const smallWords = words('small little tiny');
export const wholeWords = words(
  'picture screen image frame video scene view display stream feed background everything camera it',
);
/** Words for anything that has a color or moves. "Something dark" is not the picture. */
export const things = words(
  'something anything thing object objects area region part patch spot shape box boxes rectangle square circle light lights cover covers',
);

export const negations = words('no none nothing neither nor without');
export const absences = words(
  'gone absent missing disappears disappeared vanishes vanished removed away has_left',
);
/** Words that turn a whole sentence into something else, so that none of it is judged. */
export const overturning = words(
  'unless until except excluding instead rather whereas although though because before after since should must may might ought would than between but',
);
export const determiners = words('a an any some the this that these those my our your his her their its one');

/** Words of presence, which require nothing. */
export const verbs =
  words(`is are was were be been has have had having does do did will can exist exists visible
  seen see shown shows show appear appears appeared presence present detected recognized spotted found comes come coming came
  arrives arrive arrived enters entered entering approaches stands stand standing stood waits waiting stays stay
  remains remain parked parks located placed outside nearby outdoors turns turned becomes gets goes in_view`);
const fillers = words(
  'there here now also currently then again still either who which they with very quite too',
);

/** Returns true for words that deny a clause. */
export function isDenial(token: string): boolean {
  return negations.has(token) || absences.has(token) || token === 'not' || token === 'never';
}

export function isFiller(token: string): boolean {
  return verbs.has(token) || fillers.has(token) || determiners.has(token);
}

/** Verbs that a place follows without a preposition. */
export const reaching = words(
  'approaches approaching passes passing crosses crossing reaches enters entering has_left',
);
/** Verbs of movement, understood before a place or "by". */
export const movements =
  words(`walks walk walking runs run running drives drive driving rolls rides flies fly flying steps pulls
  swims sails passes passing goes`);
/** Prepositions of places. A place is never a requirement: it is named as not judged. */
export const prepositions =
  words(`in on at by near behind beside under below above from to into onto toward towards of
  around against opposite within across along through past over inside outside in_front_of next_to on_top_of close_to`);

const views = `room bedroom bathroom kitchen hall hallway corridor lobby office garage yard backyard courtyard garden
  driveway street road warehouse factory shed barn stable basement attic tunnel shop store classroom building house
  station parking lot park platform workshop`;
/** Places that a camera views whole: "the garage is dark" is about the picture, unlike "the cupboard is dark". */
export const viewedPlaces = words(views);
export const placeWords =
  words(`${views} door doors doorway doorstep gate gates entrance exit drive sidewalk pavement path
  track tracks lane space spot area zone aisle shelf counter checkout desk reception floor ground stairs steps window fence
  wall roof balcony terrace porch patio deck lawn grass field forest tree bush beach sea water lake river pool swimming
  dock harbor port bridge crosswalk intersection highway stop bay runway farm feeder playground school church hospital
  hotel restaurant bar market stadium gym stage background middle center corner edge side left right top bottom front back
  queue crib loading restricted private main upper lower living dining waiting property fire bus hand rack`);

function words(list: string): ReadonlySet<string> {
  return new Set(list.split(/\s+/));
}

import { colors, type Color } from '../pixel/colors.ts';

/** Words of conditions, in lower case. The built-in models read the same ones; each color name is one of them. */

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

// Brightness, motion and color.

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
/** Adverbs of brightness and words of lamps that change nothing of what is measured. */
export const brightnessAdverbs = words(
  `too so really pretty extremely completely almost already getting gets went go goes going gone turned turn turns turning switched switch been
  switches put there currently right day night today tonight again back`,
);
export const allWords = words(
  'all entire entirely whole wholly completely fully totally full everything only',
);
export const mostWords = words(
  'mostly mainly largely predominantly primarily majority most dominant dominated dominates filled',
);
export const largeWords = words('large big huge');
export const smallWords = words('small little tiny');

/** Nouns for the whole frame. */
export const wholeNouns = words(
  'picture screen image frame video scene view display stream feed background everything it',
);
/** Words for a part of the picture: "a dark spot", "something dark". The mean brightness says nothing of it. */
export const partWords = words(
  `something anything thing things object objects area areas region regions part parts patch spot spots place shape box boxes half third
  quarter percent least more less fewer below above under over around corner light lights one`,
);
/** Subjects of a clause about the whole frame, beside clauses with objects. */
export const pictureSubjects = words(
  `something anything nothing motion movement activity picture screen image frame video scene view it light lights lightson lightsoff
  darkness everything`,
);

// Negation and structure.

const disappearances =
  'gone absent missing disappears disappear disappeared vanishes vanish vanished removed';
export const negations = words(
  `${disappearances} no not never none nothing without neither nor absence disappearing lacks lacking`,
);
/** Words of absence of an object. */
export const absences = words(`${disappearances} has_left have_left away nowhere`);
/** Words that turn a whole sentence into something else, so that none of it is judged. */
export const overturning = words(
  `unless until except excluding besides_from instead rather without_seeing only_if nobody_but whereas although though if_not because before
  after since should must may might ought would`,
);
export const copulas = words(
  'is are was be turns turn turned goes go went gets get becomes become became looks look appears seems stays',
);
export const determiners = words(`
  a an any some the this that these those my our your his her their its one another_of one_of any_of some_of at_least_one
`);
/** Words of times: a capture shows one moment. */
export const timeWords = words(
  `second seconds minute minutes hour hours days week weeks longer pm am o'clock noon midnight sunset sunrise morning afternoon evening
  weekend tomorrow yesterday usual twice times`,
);
/** First words of a part that says where, or what to do then. */
export const asides = words(
  `in on at near by behind beside inside outside please tell alert notify warn inform let send thanks thank message email call`,
);

// Words without a meaning of their own.

const commonFillers = `
  this that these those there here which who visible seen see shown shows show showing appear appears appeared appearing present exist exists
  has have had having does do did can could will in then now suddenly again still just please detected so both either up been being comes come
  outside inside`;
/** Words beside measurements that do not count as ignored. */
const pictureFillers = words(`${commonFillers}
  a an any some the what whose one something anything thing things object objects area areas region regions part parts patch spot place shape box
  colour color colours colors light lights lit contains contain containing would should if when whenever whether on at of to from into with by for
  as than very quite rather alert me tell us you i we notify detect check while and or but yes cover covers covered covering least more less over
  under above below fewer about around nearly almost half third quarter percent minimum exceeds its their my our starts start begins begin camera
  light-coloured
`);
/** Words beside objects that require nothing. */
export const fillers = words(`${commonFillers}
  it they he she them is are was were be am currently also right ever really actually already too yet today live anywhere somewhere sees recognized
  recognised spotted found find presence detection existing coming came arrives arrive arrived arriving enters enter entered entering stands stand
  standing stood waits wait waiting waited stays stay staying remains remain remaining parked parks located placed turns nearby indoors outdoors
  upstairs downstairs whose_is back
`);

// Movement and places.

const fastVerbList =
  'drives drive driving drove rolls rolling rides ride riding rode flies fly flying flew runs run running ran';
/** Verbs of movement that end in a collision before "into" and an object. */
export const fastVerbs = words(fastVerbList);
const arrivingVerbList = 'approaches approach approaching approached passes passing passed';
/** Verbs of movement that are understood without a place. */
export const arrivingVerbs = words(arrivingVerbList);
const passingVerbList = `${arrivingVerbList} crosses cross crossing crossed reaches reach reached`;
/** Verbs of movement, which mean "comes into the picture" before one of the directions, and are not understood otherwise. */
export const movementVerbs = words(`${fastVerbList} ${passingVerbList}
  walks walk walking walked steps step stepping stepped goes go going went pass pulls pull pulling pulled swims swim swimming swam sails sail
  sailing get gets getting
`);
/** Verbs of movement that a place follows without a preposition. */
export const reachingVerbs = words(`${passingVerbList} enters enter entered entering has_left have_left`);
/** Prepositions that may end a clause: "a person comes in". */
const adverbialList = 'in by up past over around through along inside outside near across';
export const adverbialPrepositions = words(adverbialList);
export const directions = words(
  'in into past by through across along toward towards to onto up over around inside near nearby here closer',
);
/** Prepositions of places. A place is never a requirement: it is named as not judged. */
export const prepositions = words(`${adverbialList}
  in_front_of next_to on_top_of close_to on at behind beside under underneath below above between from to into onto toward towards around against
  opposite within of beneath among amid inside_of outside_of down to_the_left_of to_the_right_of left_of right_of ahead_of at_the_foot_of
`);

const viewedPlaceList = `
  room rooms bedroom bathroom kitchen hall hallway corridor lobby office garage yard backyard courtyard garden driveway street road
  warehouse factory hangar shed barn stable basement cellar attic loft stairwell staircase tunnel shop store supermarket classroom
  building house station parking lot park platform workshop`;
/** Places that a camera views whole: "the garage is dark" is about the picture, unlike "the cupboard is dark". */
export const viewedPlaces = words(`${viewedPlaceList} outdoors indoors`);
/** Words for places, and adjectives of places. */
export const placeWords = words(`${viewedPlaceList}
  door doors doorway doorstep doormat gate gates entrance exit entry gardens home drive sidewalk pavement path pathway track tracks lane
  lanes space spot area zone living aisle aisles shelf shelves counter checkout desk desks reception floor ground stairs stairway steps
  step ladder window windows wall fence roof balcony terrace porch patio deck lawn grass field fields meadow forest woods tree trees bush
  bushes beach sea water lake river pool swimming shore pier dock harbor harbour port marina bridge crosswalk crossing zebra_crossing
  intersection junction roundabout highway motorway stop airport runway terminal farm kennel cage pen nest feeder bowl playground school
  church hospital ward hotel restaurant cafe bar kiosk market square plaza mall stadium pitch court gym stage screen picture image frame
  video scene view camera cameras feed foreground background middle center centre corner edge side left right top bottom front rear back
  half part sight town city village country site construction plant_room line machine machines conveyor belt lift elevator escalator cabin
  cab trunk vehicle_bay bay box boxes container containers loading unloading dock_door mailbox letterbox post pole sign barrier turnstile
  till register vending atm bank table_top worktop stove cupboard closet sky air snow sand mud rain sun shade shadow light dark darkness
  public private main front_door back_door outer inner upper lower north south east west other far restricted forbidden dangerous safe
  work working production storage waiting dining laundry conference meeting server control engine hotel_lobby neighbor neighbour neighbors
  neighbours door_step bed bedside cot crib world street_corner bus_stop place premises property grounds compound perimeter walkway
  footpath bicycle_path cycle charger charging pump gas petrol fuel car_park plot estate court_yard alley
`);
/** Nouns after "in a" and "on the" that are states of a person or times, not places. */
export const stateWords = words(`
  fight danger hurry panic uniform mask helmet hivis vest jacket jackets shirt coat hat cap hood hoodie suit dress trousers pants jeans shoes gloves glasses
  costume gear need pain attack fire flames smoke conflict conversation trouble way row circle group handcuffs wheelchair distress phone call crutches
  knees knee feet bike_lane_use drugs leash duty break strike guard alert motion movement rage tears love line_of_fire purpose time
  morning afternoon evening weekend week weeks month months year years minute minutes hour hours second seconds day days meantime
`);

/** Objects that one rides: "on a bicycle" requires the bicycle, unlike "on a couch". */
export const rideable = words('bicycle motorcycle horse skateboard surfboard skis snowboard');

/** Returns true for words beside measurements that do not count as ignored. */
export function isFiller(word: string): boolean {
  return (
    [pictureFillers, copulas, wholeNouns, allWords, mostWords, largeWords, smallWords, negations].some(
      (known) => known.has(word),
    ) || /^[\d.]+%?$/.test(word)
  );
}

function words(list: string): ReadonlySet<string> {
  return new Set(list.trim().split(/\s+/));
}

function named(color: Color, list: string): [string, Color][] {
  return list.split(' ').map((name) => [name, color]);
}

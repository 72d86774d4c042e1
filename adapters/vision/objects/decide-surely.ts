import type { Region } from '../../../core/records/capture.ts';
import { isWatched } from '../../../core/records/region.ts';
import type { Measurement, ObjectsAtom, Reading } from '../condition/condition.ts';
import { decide, listParts } from '../condition/logic.ts';
import { parseCondition } from '../condition/parse-condition.ts';
import type { Moment } from '../pixel/evaluate.ts';
import { measurePicture } from '../pixel/measure-picture.ts';
import type { ObjectClass } from './classes.ts';
import type { Box, Detection } from './detector.ts';
import { type ObjectMoment, shareOfSmaller } from './judge-objects.ts';

/**
 * Limits of what the object model knows surely. They were chosen on public footage so that at most 2 % of the sure answers are wrong
 * (`test/adapters/vision/combined/labelled-scenes.test.ts`).
 */
export const sureness = {
  /** Minimum score of an object that is there. */
  present: 0.5,
  /** Minimum height of such an object, as a share of the picture: the network tells smaller ones badly from others. */
  minHeight: 0.1,
  /** Distance from the border of a region, as a share of the picture, within which an object may stand on either side. */
  regionEdge: 0.03,
  /** Minimum mean luma, and minimum contrast, of a picture in which nothing is overlooked. */
  minBrightness: 0.2,
  minContrast: 0.05,
  /** Distance of a measured value from its limit, as a share. */
  measured: 0.1,
} as const;

/** Classes whose absence the network shows: large things with many examples. It overlooks small and thin ones. */
const findable: ReadonlySet<ObjectClass> = new Set<ObjectClass>([
  'person',
  'car',
  'bus',
  'train',
  'truck',
  'airplane',
  'motorcycle',
  'cat',
  'dog',
  'horse',
  'sheep',
  'cow',
  'elephant',
  'bear',
  'zebra',
  'giraffe',
]);

/** Classes that the network takes for each other. */
const alike: readonly (readonly ObjectClass[])[] = [
  ['car', 'truck', 'bus', 'train'],
  ['bicycle', 'motorcycle'],
  ['cat', 'dog', 'bear', 'teddy bear'],
  ['horse', 'cow', 'sheep', 'zebra', 'giraffe', 'elephant', 'bear', 'dog'],
];

/**
 * Words that the parser reads as presence or as a number of at least so many, and that people may mean more narrowly: "a person is standing", "two people".
 */
const narrowing =
  /\b(?:stand\w*|stood|wait\w*|stay\w*|remain\w*|park(?:ed|s)|turns?|com(?:es|e|ing)|came|arriv\w+|enter\w*|leav\w+|left|back|again|now|already|upstairs|downstairs|indoors|outdoors|outside|inside|nearby|one|two|three|four|five|six|seven|eight|nine|ten|\d+|both|several|new|still|suddenly)\b/i;
const numbered = /\b(?:at least|more than|or more|no more than|at most|fewer than|less than|up to)\b/i;

/** Numbers of objects between which the true one surely lies. */
type Bounds = { least: number; most: number };

/**
 * Decides a condition on a frame if the object model is sure, otherwise returns null. A part that it does not judge (a place, a time, a narrower word) can
 * only take away from what is there: without a person, nobody is at the door.
 */
export function decideSurely(text: string, reading: Reading, moment: ObjectMoment): boolean | null {
  return decideBy(text, reading, {
    count: (part) => countSurely(part, moment),
    measure: (part) => measureSurely(part, moment.measured),
  });
}

type Facts = {
  count: (part: ObjectsAtom) => Bounds;
  measure: (part: Measurement) => boolean | null;
};

function decideBy(text: string, { condition, notJudged }: Reading, { count, measure }: Facts) {
  if (condition === null) return null;
  const isNarrowed = notJudged.length > 0 || (narrowing.test(text) && !numbered.test(text));
  const decided = decide(condition, (part) => {
    if (part.kind !== 'objects') return isNarrowed ? null : measure(part);
    const { least, most } = count(part);
    const limit = part.compare === 'at least' ? part.count : part.count + 1;
    const reaches = !isNarrowed && least >= limit ? true : most < limit ? false : null;
    return part.compare === 'at least' || reaches === null ? reaches : !reaches;
  });
  // A time that is not judged may make a sentence false, but never true.
  return decided === true && notJudged.some(({ kind }) => kind === 'time') ? null : decided;
}

const [none, many]: [Bounds, Bounds] = [
  { least: 0, most: 0 },
  { least: Infinity, most: Infinity },
];
/** Maximum parts of a condition whose combinations are tried. */
const maxParts = 8;

/** Lists the answers, yes and no, of which the object model can be sure for some picture. */
export function listSureAnswers(text: string): boolean[] {
  const reading = parseCondition(text);
  const parts = reading.condition === null ? [] : listParts(reading.condition).slice(0, maxParts);
  const answers = Array.from({ length: 2 ** parts.length }, (_, choice) => {
    const isChosen = (part: ObjectsAtom | Measurement) => ((choice >> parts.indexOf(part)) & 1) === 1;
    return decideBy(text, reading, {
      count: (part) => countAtMost(part, isChosen(part) ? many : none),
      measure: (part) => (/^(?:dark|bright|blank|share)$/.test(part.kind) ? isChosen(part) : null),
    });
  });
  return [true, false].filter((answer) => answers.includes(answer));
}

/** Limits what is seen to what can be sure: no color, and only the absence of what the network does not overlook. */
function countAtMost({ classes, colors }: ObjectsAtom, { least, most }: Bounds): Bounds {
  const isFindable = classes.every((name) => findable.has(name));
  return { least: colors.length > 0 ? 0 : least, most: isFindable ? most : Infinity };
}

/** Returns how many objects of an atom are surely there, and how many there can be. */
function countSurely(atom: ObjectsAtom, moment: ObjectMoment): Bounds {
  const { classes } = atom;
  const { all = moment.detections, regions } = moment;
  const named = all.filter(({ object }) => classes.includes(object));
  const sure = named.filter(
    (one) =>
      one.score >= sureness.present &&
      one.box.height >= sureness.minHeight &&
      findPlace(one.box, regions) === 'inside' &&
      !all.some((other) => isRival(one, other, classes)),
  );
  // Each reported detection is one (`minScore`): persons have at least 0.06 on the footage, also small, dark and blurred ones.
  const traces = all.filter(
    (one) => findPlace(one.box, regions) !== 'outside' && classes.some((name) => isAlike(name, one.object)),
  );
  // Another object may stand behind the one that is seen.
  const most = !isClear(moment) ? Infinity : traces.length === 0 ? 0 : traces.length + 1;
  return countAtMost(atom, { least: withoutOverlap(sure).length, most });
}

function isAlike(name: ObjectClass, other: ObjectClass): boolean {
  return name === other || alike.some((group) => group.includes(name) && group.includes(other));
}

/** Returns true if a box may as well show an object of another class. */
function isRival(one: Detection, other: Detection, classes: readonly ObjectClass[]): boolean {
  return (
    !classes.includes(other.object) &&
    isAlike(one.object, other.object) &&
    other.score >= one.score / 2 &&
    shareOfSmaller(one.box, other.box) > 0.5
  );
}

/** Counts boxes that share much of each other once: two parts of one person. */
function withoutOverlap(detections: readonly Detection[]): Detection[] {
  const kept: Detection[] = [];
  for (const one of detections)
    if (kept.every(({ box }) => shareOfSmaller(box, one.box) <= 0.5)) kept.push(one);
  return kept;
}

/** Returns where an object stands, by the middle of the lower edge of its box: at the edge if a small shift could change it. */
function findPlace(box: Box, regions: readonly Region[] | null | undefined): 'inside' | 'edge' | 'outside' {
  if (!regions || regions.length === 0) return 'inside';
  const [x, y] = [box.x + box.width / 2, box.y + box.height];
  const shifts = [-sureness.regionEdge, 0, sureness.regionEdge];
  const watched = shifts.flatMap((right) =>
    shifts.map((down) => isWatched(regions, within(x + right), within(y + down))),
  );
  if (watched.every(Boolean)) return 'inside';
  return watched.some(Boolean) ? 'edge' : 'outside';
}

function within(share: number): number {
  return Math.min(Math.max(share, 0), 0.999);
}

/** Returns true for a picture with enough light and contrast. */
function isClear({ picture }: ObjectMoment): boolean {
  const { brightness, contrast } = measurePicture(picture.rgb, picture);
  return brightness >= sureness.minBrightness && contrast >= sureness.minContrast;
}

/** Decides a measurement of the whole picture that is far enough from its limit. Regions of a color and motion are never sure. */
function measureSurely(part: Measurement, measured: Moment | null): boolean | null {
  if (measured === null) return null;
  const { brightness, contrast, shares } = measured.picture;
  switch (part.kind) {
    case 'dark':
      return isAbove(-brightness, -0.1, -0.35);
    case 'bright':
      return isAbove(brightness, 0.5, 0.25);
    case 'blank':
      return isAbove(-contrast, -0.01, -0.05);
    case 'share': {
      const [over, under] = [part.share + sureness.measured, part.share - sureness.measured];
      const reaches = isAbove(shares[part.color], over, under);
      const wantsMore = part.compare === 'at least' || part.compare === 'more than';
      return wantsMore || reaches === null ? reaches : !reaches;
    }
    default:
      return null;
  }
}

/** Compares a value with two limits; null between them. */
function isAbove(value: number, yes: number, no: number): boolean | null {
  return value >= yes ? true : value <= no ? false : null;
}

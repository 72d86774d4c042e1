import type { Boxes } from '../api/types.ts';
import { pluralize } from '../time/format.ts';
import type { Motion } from './motion.ts';

/** Verdict of a condition on a picture of a walk test. */
export type WalkVerdict = {
  condition: string;
  triggered: boolean;
  /** False if the model could not judge the picture. */
  judged?: boolean | undefined;
  explanation: string;
  boxes: Boxes;
};

type Place = 'left' | 'right' | 'upper' | 'lower' | 'middle';

/** Score of a condition: numbers of pictures. */
export type WalkScore = {
  pictures: number;
  judged: number;
  /** Pictures that show the condition, with and without motion. */
  seen: number;
  /** Pictures with motion; the newest counts once the next one or a sight confirms that it shows what moves. */
  moving: number;
  seenMoving: number;
  /** Pictures with motion in which the model was not sure. */
  perhaps: number;
  /** Places of the last sight before a picture that moves and does not show it, the most frequent first. */
  lostAt: Place[];
  /** Reason by the boxes of most sights for which a built-in model is not reliable. */
  weakness: Weakness | undefined;
};

/** View that the object model finds badly: too small, or persons from above. */
type Weakness = 'small' | 'above';

/** Returns the score of one condition. `motion` and `verdicts` have one entry per picture. */
export function scoreWalk(motion: readonly Motion[], verdicts: readonly WalkVerdict[]): WalkScore {
  const counted = verdicts.filter(
    ({ triggered }, index) => motion[index] === 'moves' || (motion[index] === 'changed' && triggered),
  );
  return {
    pictures: verdicts.length,
    judged: verdicts.filter(({ judged }) => judged !== false).length,
    seen: verdicts.filter(({ triggered }) => triggered).length,
    moving: counted.length,
    seenMoving: counted.filter(({ triggered }) => triggered).length,
    perhaps: counted.filter(isPerhaps).length,
    lostAt: findLosses(motion, verdicts),
    weakness: findWeakness(verdicts.flatMap(({ triggered, boxes }) => (triggered ? boxes.slice(0, 1) : []))),
  };
}

/**
 * Returns true if objects have scores that are too low to count, by the sentence of the built-in model: "perhaps 1
 * person (0.22)".
 */
export function isPerhaps({ triggered, explanation }: Pick<WalkVerdict, 'triggered' | 'explanation'>) {
  return !triggered && (explanation.split('perhaps ')[1]?.includes('(0.') ?? false);
}

function findLosses(motion: readonly Motion[], verdicts: readonly WalkVerdict[]): Place[] {
  const times = new Map<Place, number>();
  for (const [index, { triggered, boxes }] of verdicts.entries()) {
    const [box] = boxes;
    // Without motion it has left the picture.
    const isLost = motion[index + 1] === 'moves' && verdicts[index + 1]?.triggered === false;
    if (!triggered || !box || !isLost) continue;
    const place = findPlace(box);
    times.set(place, (times.get(place) ?? 0) + 1);
  }
  return [...times].toSorted(([, a], [, b]) => b - a).map(([place]) => place);
}

/**
 * Height below which objects are rarely found, and proportions of a person from which the camera sees it from above.
 */
const minHeight = 0.1;
const minWidthOfAbove = 0.8;

/** Returns what most boxes have in common that makes them hard to find. Their shares are of a picture of 16 by 9. */
export function findWeakness(boxes: Boxes): Weakness | undefined {
  const isMost = (count: number) => count * 2 > boxes.length;
  if (isMost(boxes.filter(({ height }) => height < minHeight).length)) return 'small';
  const above = boxes.filter(
    ({ label, width, height }) => label === 'person' && (width * 16) / (height * 9) >= minWidthOfAbove,
  );
  return isMost(above.length) ? 'above' : undefined;
}

/** Distance from an edge, in shares of the picture, within which an object leaves by it. */
const nearEdge = 0.05;

/**
 * Returns the edge by which an object leaves. To the sides it may be its own width away: it walks that far between two
 * pictures.
 */
export function findPlace({ x, y, width, height }: Boxes[number]): Place {
  const [left, right, upper, lower] = [x, 1 - x - width, y, 1 - y - height];
  if (Math.min(left, right) <= Math.max(nearEdge, width)) return left <= right ? 'left' : 'right';
  if (Math.min(upper, lower) <= nearEdge) return lower <= upper ? 'lower' : 'upper';
  return 'middle';
}

/** Returns the result of a walk in a word: its sentence has the numbers. */
export function judgeWalk({ pictures, judged, moving, seen, seenMoving }: WalkScore) {
  if (pictures > 0 && judged === 0) return { label: 'Not judged', tone: 'neutral' } as const;
  if (seen === 0) return { label: 'Not seen', tone: 'neutral' } as const;
  if (seenMoving < moving) return { label: 'Seen in part', tone: 'warn' } as const;
  return { label: 'Seen', tone: 'good' } as const;
}

/** Returns the score as a sentence for the person who walks. */
export function describeScore(score: WalkScore): string {
  const { pictures, judged, seen, moving, seenMoving, perhaps } = score;
  if (pictures > 0 && judged === 0) return 'The model cannot judge this condition.';
  if (moving === 0)
    return seen === 0
      ? 'No motion: walk through the picture.'
      : `Seen in ${pluralize(seen, 'picture')} without motion.`;
  const [unsure, lost] = [perhaps > 0 ? `, perhaps in ${perhaps}` : '', describeLosses(score)];
  if (seenMoving === 0)
    return `Not seen in ${pluralize(moving, 'picture')} with motion${unsure}. Try a nearer place, more light or another angle.`;
  return `Seen in ${seenMoving} of ${pluralize(moving, 'picture')} with motion${unsure && `${unsure} more`}${lost}.${describeWeakness(score)}`;
}

const weaknesses = {
  small: ' It is small: below a tenth of the height of the picture. Use a nearer place or the main stream.',
  above: ' The camera sees the person from above: a lower place or a flatter angle is surer.',
};

function describeWeakness({ weakness }: WalkScore): string {
  return weakness === undefined ? '' : weaknesses[weakness];
}

function describeLosses({ lostAt }: WalkScore): string {
  const places = lostAt.map((place) => (place === 'middle' ? 'in the middle' : `at the ${place} edge`));
  return places.length === 0 ? '' : `; lost ${new Intl.ListFormat('en').format(places)}`;
}

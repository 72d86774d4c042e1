import { decide, type ObjectsAtom } from '../condition/condition.ts';
import { parseCondition } from '../condition/parse-condition.ts';
import type { ObjectClass } from '../objects/classes.ts';
import type { ObjectMoment } from '../objects/judge-objects.ts';
import { measurePicture } from '../pixel/measure-picture.ts';

/** Minimum mean luma, and minimum contrast, of a picture in which the network overlooks nothing. */
const clear = { brightness: 0.2, contrast: 0.05 };

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
 * Returns the classes without which a condition does not hold, if a picture shows no trace of them: what is asked is
 * false then. Returns undefined if a picture may fulfil it. Without a picture, all that the network does not overlook
 * is missing.
 */
export function findMissing(text: string, moment?: ObjectMoment): ObjectClass[] | undefined {
  const { condition } = parseCondition(text);
  const missing: ObjectClass[] = [];
  const isFalse =
    condition !== null &&
    decide(condition, (part) => {
      if (part.kind !== 'objects' || part.compare === 'at most') return null;
      if (!part.classes.every((name) => findable.has(name)) || (moment && hasTrace(part, moment)))
        return null;
      missing.push(...part.classes);
      return false;
    }) === false;
  return isFalse ? missing : undefined;
}

/**
 * Each detection is a trace, however weak: persons on the footage of the tests have at least 0.06, also small, dark and
 * blurred ones.
 */
function hasTrace(
  { classes }: ObjectsAtom,
  { picture, detections, all = detections }: ObjectMoment,
): boolean {
  const { brightness, contrast } = measurePicture(picture.rgb, picture);
  if (brightness < clear.brightness || contrast < clear.contrast) return true;
  return all.some(({ object }) =>
    classes.some(
      (name) => name === object || alike.some((group) => group.includes(name) && group.includes(object)),
    ),
  );
}

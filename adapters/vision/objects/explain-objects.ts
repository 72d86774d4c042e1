import type { UnjudgedPart } from '../../../core/ports/vision-model.ts';
import { instrumentFor, withDisclosure } from '../pixel/explain.ts';
import { listParts } from '../condition/logic.ts';
import { mainBoxColors } from './box-colors.ts';
import type { ObjectClass } from './classes.ts';
import type { Detection } from './detector.ts';
import type { Condition, ObjectsAtom } from '../condition/condition.ts';
import { toPlural } from '../condition/nouns.ts';
import { type Found, findObjects, type ObjectMoment, thresholds } from './judge-objects.ts';

/** Sentence in every answer, so that callers do not mistake the object model for a vision-language model. */
export const disclosure = 'Seen by the built-in object model, which is not a vision-language model.';

const abilities =
  'This model sees 80 everyday things such as persons, cars, dogs and bottles, and measures colors, brightness and motion.';

/** Describes which objects of a condition are visible in a frame, and which parts are not judged. */
export function explainCondition(
  condition: Condition,
  moment: ObjectMoment,
  notJudged: readonly UnjudgedPart[],
): string {
  const parts = listParts(condition);
  const atoms = parts.flatMap((part) => (part.kind === 'objects' ? [part] : []));
  const described = [...new Set(atoms.map((atom) => describeAtom(atom, moment)))];
  const seen = described.filter((one) => !described.some((other) => other.startsWith(`${one}, perhaps `)));
  const measured = parts.flatMap((part) =>
    part.kind === 'objects' || part.kind === 'unmeasurable' || moment.measured === null
      ? []
      : instrumentFor(part, moment.measured),
  );
  return withDisclosure(
    [
      ...(moment.atSeconds === null ? [] : [`At ${moment.atSeconds.toFixed(1)} s of the clip:`]),
      ...(seen.length === 0 ? [] : [`Looks like ${seen.join(' and ')}.`]),
      ...new Set(measured),
      ...formatNotJudged(notJudged),
    ],
    disclosure,
  );
}

/** Describes a condition that is not understood, and the visible objects. */
export function explainNotUnderstood(language: string | null, moment: ObjectMoment | null): string {
  const reason =
    language === null
      ? `Cannot be checked: no part of it is understood. ${abilities}`
      : `Cannot be checked: it seems to be in ${language}, and this model understands English only.`;
  return withDisclosure([reason, ...(moment === null ? [] : [describeObjects(moment)])], disclosure);
}

/** Describes all objects of a frame: "Looks like 2 persons (0.74, 0.41) and 1 dog (0.5)." */
export function describeObjects({ detections }: ObjectMoment): string {
  const seen = detections.filter(({ score }) => score >= thresholds.seen);
  return seen.length === 0 ? 'No object is seen.' : `Looks like ${formatCounts(seen)}.`;
}

/** Describes the colors of the objects of an atom: "1 car (0.62): white, grey". */
export function describeColors(atom: ObjectsAtom, moment: ObjectMoment): string {
  const { seen } = findObjects(atom, moment);
  const groups = seen.map((detection) => {
    const found = mainBoxColors(moment.picture, detection.box);
    return `${formatCount([detection], detection.object)}: ${found.length === 0 ? 'no main color' : found.join(', ')}`;
  });
  return groups.length === 0 ? `${capital(formatNone(atom))} is seen.` : `Looks like ${groups.join('; ')}.`;
}

/** Formats the parts that are not judged: "Not judged: 'intruder' (any person counts), 'at the door'." */
export function formatNotJudged(notJudged: readonly UnjudgedPart[]): string[] {
  const names = [...new Set(notJudged.map(describePart))].slice(0, 6);
  return names.length === 0 ? [] : [`Not judged: ${names.join(', ')}.`];
}

function describePart({ words, countsAs }: UnjudgedPart): string {
  const name = `'${words.slice(0, 40)}'`;
  return countsAs === undefined ? name : `${name} (any ${countsAs} counts)`;
}

function describeAtom(atom: ObjectsAtom, moment: ObjectMoment): string {
  const { seen, possible } = findObjects(atom, moment);
  const color = atom.colors.length === 0 ? '' : `${atom.colors.join(' or ')} `;
  if (seen.length > 0) return `${formatCounts(seen, color)}${describeDoubt(atom, { seen, possible })}`;
  if (possible.length > 0) return `perhaps ${formatCounts(possible, color)}`;
  if (color === '') return formatNone(atom);
  const others = findObjects({ ...atom, colors: [] }, moment).seen;
  return others.length === 0 ? formatNone(atom) : `${formatCounts(others)}, none of them ${color.trim()}`;
}

/** Names the low scores that leave a count undecided: ", perhaps 1 more (0.22)". */
function describeDoubt({ compare, count }: ObjectsAtom, { seen, possible }: Found): string {
  const limit = compare === 'at least' ? count : count + 1;
  if (seen.length >= limit || possible.length < limit) return '';
  const more = possible.slice(seen.length);
  return `, perhaps ${more.length} more (${formatScores(more)})`;
}

function formatNone(atom: ObjectsAtom): string {
  const names = atom.classes.slice(0, 5).join(', ');
  return `no ${names}${atom.classes.length > 5 ? ' or the like' : ''}`;
}

/** Formats the number of objects of each class: "2 persons (0.74, 0.41), 1 dog (0.50)". */
function formatCounts(detections: Detection[], color = ''): string {
  const classes = [...new Set(detections.map(({ object }) => object))];
  return classes
    .map((object) =>
      formatCount(
        detections.filter((one) => one.object === object),
        object,
        color,
      ),
    )
    .join(', ');
}

function formatCount(detections: Detection[], object: ObjectClass, color = ''): string {
  const name = detections.length === 1 ? object : toPlural(object);
  return `${detections.length} ${color}${name} (${formatScores(detections)})`;
}

function formatScores(detections: Detection[]): string {
  const scores = detections.slice(0, 6).map(({ score }) => score.toFixed(2));
  return `${scores.join(', ')}${detections.length > 6 ? ', …' : ''}`;
}

function capital(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
}

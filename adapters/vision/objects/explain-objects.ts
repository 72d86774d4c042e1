import type { UnjudgedPart } from '../../../core/ports/vision-model.ts';
import { configureVlmHint, explainMeasurement, withDisclosure } from '../pixel/explain.ts';
import type { TimedMoment } from '../pixel/read-moments.ts';
import { type Condition, listParts, type ObjectsAtom } from '../condition/condition.ts';
import { mainBoxColors } from './box-colors.ts';
import type { ObjectClass } from './classes.ts';
import type { Detection } from './detector.ts';
import { toPlural } from '../condition/nouns.ts';
import type { Moment } from '../pixel/evaluate.ts';
import { installCommand } from './packages.ts';
import { type Found, findObjects, type ObjectMoment, thresholds } from './judge-objects.ts';

/**
 * Describes which objects of a condition are visible in a frame, what is measured in it, and which parts are not
 * judged.
 */
export function explainCondition(
  condition: Condition,
  moment: ObjectMoment,
  notJudged: readonly UnjudgedPart[],
): string {
  const atoms = listParts(condition).flatMap((part) => (part.kind === 'objects' ? [part] : []));
  const described = [...new Set(atoms.map((atom) => describeAtom(atom, moment)))];
  const seen = described.filter((one) => !described.some((other) => other.startsWith(`${one}, perhaps `)));
  return withDisclosure([
    ...formatTime(moment),
    ...(seen.length === 0 ? [] : [`Looks like ${seen.join(' and ')}.`]),
    ...(moment.measured === null ? [] : listMeasured(condition, moment.measured)),
    ...formatSentence(notJudged),
  ]);
}

/** Describes what is measured for a condition that names no object. */
export function explainMeasured(
  condition: Condition,
  moment: TimedMoment,
  notJudged: readonly UnjudgedPart[],
): string {
  const facts = listMeasured(condition, moment).slice(0, 4);
  return withDisclosure([...formatTime(moment), ...facts, ...formatSentence(notJudged)]);
}

/**
 * Describes a condition that is not judged: nothing in it is understood, or the packages for its objects are missing.
 */
export function explainNotJudged(condition: Condition | null, notJudged: readonly UnjudgedPart[]): string {
  const reason =
    condition === null
      ? 'no part of it is understood. This model sees 80 everyday things such as persons, cars, dogs and bottles, and measures colors, brightness and motion'
      : `the packages for objects are not installed (run ${installCommand})`;
  return withDisclosure([`Cannot be checked: ${reason}.`, ...formatSentence(notJudged), configureVlmHint]);
}

function formatTime({ atSeconds }: { atSeconds: number | null }): string[] {
  return atSeconds === null ? [] : [`At ${atSeconds.toFixed(1)} s of the clip:`];
}

function listMeasured(condition: Condition, moment: Moment): string[] {
  const parts = listParts(condition).flatMap((part) =>
    part.kind === 'objects' || part.kind === 'unmeasurable' ? [] : [explainMeasurement(part, moment)],
  );
  return [...new Set(parts)];
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
    const colors = mainBoxColors(moment.picture, detection.box);
    return `${formatCount([detection], detection.object)}: ${colors.length === 0 ? 'no main color' : colors.join(', ')}`;
  });
  return groups.length === 0 ? `${capital(formatNone(atom))} is seen.` : `Looks like ${groups.join('; ')}.`;
}

/** Formats the parts that are not judged: "'intruder' (any person counts), 'at the door'". */
export function formatNotJudged(notJudged: readonly UnjudgedPart[]): string {
  return [...new Set(notJudged.map(describePart))].slice(0, 6).join(', ');
}

function formatSentence(notJudged: readonly UnjudgedPart[]): string[] {
  return notJudged.length === 0 ? [] : [`Not judged: ${formatNotJudged(notJudged)}.`];
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

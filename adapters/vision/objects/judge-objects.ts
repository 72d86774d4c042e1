import type { Region } from '../../../core/records/capture.ts';
import { holdsAtom, type Moment } from '../pixel/evaluate.ts';
import { type Condition, decide, listParts, type ObjectsAtom } from '../condition/condition.ts';
import { hasColor } from './box-colors.ts';
import type { Box, Detection, Picture } from './detector.ts';

/**
 * Minimum score of an object that is seen, of a further person beside a seen one, and of an object that may be there.
 * Between them the model is not sure. In a group, those behind others have lower scores: at 0.25 the bench finds all
 * persons of 41 frames, with a precision of 97.5 % (docs/contribute/benchmarks.md).
 */
export const thresholds = { seen: 0.3, furtherPerson: 0.25, possible: 0.15 } as const;
/**
 * Maximum share of the smaller of two boxes that they share, for a further object: more is a part of the other, such as
 * a torso.
 */
const maxShared = 0.6;

/** Frame with its objects: its time in a clip, in seconds, or null for the frame of the capture. */
export type ObjectMoment = {
  atSeconds: number | null;
  picture: Picture;
  /** Objects in the watched part of the frame, and those of them of which a hidden region shows only a part. */
  detections: Detection[];
  cutOff?: ReadonlySet<Detection>;
  /** Objects of the whole frame, and its regions; absent without regions. */
  all?: Detection[];
  regions?: readonly Region[];
  /** True if objects that may be there count as seen (sensitivity `high`). */
  isSensitive?: boolean;
  /** Measurements of the whole picture; null if the condition needs none. */
  measured: Moment | null;
};

/** Objects of an atom in a frame. */
export type Found = { seen: Detection[]; possible: Detection[] };

/** Returns true if the network must run to decide a condition. */
export function namesObjects(condition: Condition): boolean {
  return listParts(condition).some(({ kind }) => kind === 'objects');
}

/** Returns the objects that an atom counts, those that are seen and those that may be there. */
export function findObjects(
  atom: ObjectsAtom,
  { picture, detections, cutOff, isSensitive = false }: ObjectMoment,
): Found {
  const fitting = detections.filter(
    (detection) =>
      atom.classes.includes(detection.object) &&
      detection.score >= thresholds.possible &&
      (atom.colors.length === 0 || hasColor(picture, detection, atom.colors)),
  );
  const distinct = withoutDoubles(fitting);
  if (isSensitive) return { seen: distinct, possible: distinct };
  const seen: Detection[] = [];
  for (const detection of distinct) {
    const isFurther =
      detection.object === 'person' &&
      seen.length > 0 &&
      seen.every(({ box }) => shareOfSmaller(box, detection.box) <= maxShared);
    if (detection.score >= (isFurther ? thresholds.furtherPerson : thresholds.seen)) seen.push(detection);
  }
  // A part of a thing at the edge of a hidden region often looks a little like another thing.
  return { seen, possible: distinct.filter((each) => seen.includes(each) || !cutOff?.has(each)) };
}

/** Returns the part of the smaller box that is in both. */
export function shareOfSmaller(a: Box, b: Box): number {
  const width = Math.min(a.x + a.width, b.x + b.width) - Math.max(a.x, b.x);
  const height = Math.min(a.y + a.height, b.y + b.height) - Math.max(a.y, b.y);
  const smaller = Math.min(a.width * a.height, b.width * b.height);
  return width <= 0 || height <= 0 || smaller === 0 ? 0 : (width * height) / smaller;
}

/** A van may be reported as car and as truck: one box of several classes is one object. */
function withoutDoubles(detections: Detection[]): Detection[] {
  const kept: Detection[] = [];
  for (const detection of detections) {
    if (!kept.some(({ box }) => isSame(box, detection.box))) kept.push(detection);
  }
  return kept;
}

function isSame(a: Box, b: Box): boolean {
  return (
    Math.max(Math.abs(a.x - b.x), Math.abs(a.width - b.width)) < a.width * 0.1 &&
    Math.max(Math.abs(a.y - b.y), Math.abs(a.height - b.height)) < a.height * 0.1
  );
}

/** Decides a condition on a frame. Returns null if it cannot be decided. */
export function holdsAt(condition: Condition, moment: ObjectMoment): boolean | null {
  return decide(condition, (atom) => {
    if (atom.kind !== 'objects') return moment.measured === null ? null : holdsAtom(atom, moment.measured);
    const { seen, possible } = findObjects(atom, moment);
    const limit = atom.compare === 'at least' ? atom.count : atom.count + 1;
    const reaches = seen.length >= limit ? true : possible.length < limit ? false : null;
    return atom.compare === 'at least' || reaches === null ? reaches : !reaches;
  });
}

/**
 * Returns true if only low scores leave a condition undecided, no words. Neither "a person" nor "nobody" holds then: a
 * thing that always looks a little like a person must not keep an alert open for ever.
 */
export function isDoubtOnly(condition: Condition, { measured }: ObjectMoment): boolean {
  return listParts(condition).every(
    (part) => part.kind === 'objects' || (measured !== null && holdsAtom(part, measured) !== null),
  );
}

/** Verdict over several frames, with the frame that shows it best. */
export type ObjectVerdict = { holds: boolean | null; moment: ObjectMoment };

/**
 * Frames of a capture: its frame first, then those of the clip in time order. Each is detected when it is read. `count`
 * waits until the clip is decoded, the first frame does not.
 */
export type Moments = { count(): Promise<number>; read(index: number): Promise<ObjectMoment> };

/**
 * Decides a condition over the frames of a clip. It holds if it holds in more than one of them, or in the only one. A
 * condition with an absence must hold in all: a detector misses an object more often than it invents one. Reads the
 * newest frames first, only as many as the decision needs, and those that it needs in any case concurrently.
 */
export async function decideOverMoments(
  condition: Condition,
  { count: countMoments, read }: Moments,
): Promise<ObjectVerdict> {
  const first = read(0);
  // It fails where it is awaited, perhaps after the clip.
  first.catch(() => undefined);
  const count = await countMoments();
  const needed = requiresAbsence(condition) ? count : Math.min(2, count);
  const verdicts: { holds: boolean | null; moment: ObjectMoment }[] = [];
  const holding = () => verdicts.filter(({ holds }) => holds === true).length;
  for (let left = count; left > 0;) {
    const reads = countNextReads({ count, left, needed, holding: holding() });
    if (reads === 0) break;
    const moments = await Promise.all(
      Array.from({ length: reads }, async (_, back) => (left - back === count ? first : read(left - back))),
    );
    verdicts.push(...moments.map((moment) => ({ holds: holdsAt(condition, moment), moment })));
    left -= reads;
  }
  const find = (wanted: boolean | null) => verdicts.find(({ holds }) => holds === wanted);
  const decided = holding() >= needed ? find(true) : undefined;
  const undecided = holding() === 0 ? find(null) : undefined;
  return decided ?? undecided ?? { holds: false, moment: find(false)?.moment ?? (await first) };
}

/**
 * Returns how many frames to read next, of the `left` ones: those that the decision needs in any case, until the
 * condition could hold, or could not hold any more. 0 if it is decided. An absence that has held so far is read in
 * pairs, since the rest is likely to be needed.
 */
export function countNextReads(state: {
  count: number;
  left: number;
  needed: number;
  holding: number;
}): number {
  const { count, left, needed, holding } = state;
  const missing = needed - holding;
  const reads = Math.max(0, Math.min(missing, left - missing + 1));
  const hasHeld = holding > 0 && holding === count - left;
  return reads === 1 && hasHeld ? Math.min(2, missing) : reads;
}

/** Returns true if a condition must hold in all frames of a clip, because something must be absent. */
export function requiresAbsence(condition: Condition): boolean {
  switch (condition.kind) {
    case 'not':
      return listParts(condition.part).some(({ kind }) => kind === 'objects');
    case 'all':
    case 'any':
      return condition.parts.some(requiresAbsence);
    default:
      return condition.kind === 'objects' && condition.compare === 'at most';
  }
}

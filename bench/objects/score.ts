import { objectClasses, type ObjectClass } from '../../adapters/vision/objects/classes.ts';
import type { Detection } from '../../adapters/vision/objects/detector.ts';
import type { Label } from './labels.ts';

/** Picture with its label and its detections. */
export type Judged = { label: Label; detections: Detection[] };

/** Result of a class at a threshold. Objects are compared by their number, frames by whether one is found. */
export type ClassScore = {
  object: ObjectClass;
  threshold: number;
  /** Whole objects, and those of them that were found. */
  whole: number;
  found: number;
  /** Reported objects, and those of them that exceed the whole and partial ones. */
  reported: number;
  excess: number;
  /** Frames without the object, and those of them in which it is reported. */
  emptyFrames: number;
  falseFrames: number;
};

/** Scores every class that is labelled or reported at a threshold. */
export function scoreClasses(judged: Judged[], threshold: number): ClassScore[] {
  return objectClasses.flatMap((object) => {
    const score = scoreClass(judged, object, threshold);
    return score.whole === 0 && score.reported === 0 ? [] : [score];
  });
}

function scoreClass(judged: Judged[], object: ObjectClass, threshold: number): ClassScore {
  const score = { whole: 0, found: 0, reported: 0, excess: 0, emptyFrames: 0, falseFrames: 0 };
  for (const { label, detections } of judged) {
    if (label.ignore.includes(object)) continue;
    const whole = label.objects[object] ?? 0;
    const partial = label.partial[object] ?? 0;
    const reported = detections.filter((one) => one.object === object && one.score >= threshold).length;
    score.whole += whole;
    score.found += Math.min(reported, whole);
    score.reported += reported;
    score.excess += Math.max(reported - whole - partial, 0);
    if (whole + partial > 0) continue;
    score.emptyFrames += 1;
    if (reported > 0) score.falseFrames += 1;
  }
  return { object, threshold, ...score };
}

/** Counts the frames in which an object of another class than person is reported that is not in them. */
export function countFalseFrames(judged: Judged[], threshold: number): number {
  return judged.filter(({ label, detections }) =>
    detections.some(
      ({ object, score }) =>
        score >= threshold &&
        object !== 'person' &&
        !label.ignore.includes(object) &&
        !(label.objects[object] ?? label.partial[object]),
    ),
  ).length;
}

/** Returns the class other than a person that is most often false, as a condition about it alone would alert; undefined if none is. */
export function findWorstClass(judged: Judged[], threshold: number): ClassScore | undefined {
  const rate = ({ falseFrames, emptyFrames }: ClassScore) => falseFrames / emptyFrames;
  return scoreClasses(judged, threshold)
    .filter(({ object, falseFrames }) => object !== 'person' && falseFrames > 0)
    .toSorted((a, b) => rate(b) - rate(a))[0];
}

/** Formats the scores as a table. */
export function formatScores(scores: ClassScore[]): string[] {
  return [
    'class            threshold  whole  recall   precision  frames without it  false frames',
    ...scores.map((score) =>
      [
        score.object.padEnd(16),
        score.threshold.toFixed(2).padEnd(10),
        `${score.whole}`.padStart(5),
        formatShare(score.found, score.whole).padStart(8),
        formatShare(score.reported - score.excess, score.reported).padStart(10),
        `${score.emptyFrames}`.padStart(18),
        `${score.falseFrames} (${formatShare(score.falseFrames, score.emptyFrames)})`.padStart(15),
      ].join(' '),
    ),
  ];
}

/** Formats a part of a number in percent. */
export function formatShare(part: number, of: number): string {
  return of === 0 ? '–' : `${((part / of) * 100).toFixed(1)} %`;
}

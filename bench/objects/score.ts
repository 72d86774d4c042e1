import { z } from 'zod';
import { objectClasses, type ObjectClass } from '../../adapters/vision/objects/classes.ts';
import type { Detection } from '../../adapters/vision/objects/detector.ts';

const countsSchema = z.partialRecord(z.enum(objectClasses), z.int().nonnegative());

/**
 * Label of a picture, or of a moment of a video: one line of a labels file. An object is whole if most of it is visible
 * and it has a tenth of the height of the picture. Partial objects may be found or not; classes in `ignore` are not
 * labelled.
 */
const labelSchema = z.strictObject({
  file: z.string().min(1),
  seconds: z.number().nonnegative().optional(),
  objects: countsSchema,
  partial: countsSchema.default({}),
  ignore: z.array(z.enum(objectClasses)).default([]),
});
type Label = z.infer<typeof labelSchema>;

/** Parses a labels file. Throws an `Error` that names the line. */
export function parseLabels(text: string): Label[] {
  return text.split('\n').flatMap((line, index) => {
    if (line.trim() === '') return [];
    try {
      return [labelSchema.parse(JSON.parse(line))];
    } catch (cause) {
      throw new Error(`Line ${index + 1} of the labels is no label`, { cause });
    }
  });
}

/** Picture with its label and its detections. */
export type Judged = { label: Label; detections: Detection[] };

/** Result of a class at a threshold. Objects are compared by their number, frames by whether one is found. */
type ClassScore = {
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

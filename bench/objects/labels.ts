import { z } from 'zod';
import { objectClasses } from '../../adapters/vision/objects/classes.ts';

const countsSchema = z.partialRecord(z.enum(objectClasses), z.int().nonnegative());

/**
 * Label of a picture, or of a moment of a video: one line of a labels file. An object is whole if most of it is visible and it has a
 * tenth of the height of the picture. Partial objects may be found or not; classes in `ignore` are not labelled.
 */
const labelSchema = z.strictObject({
  file: z.string().min(1),
  seconds: z.number().nonnegative().optional(),
  objects: countsSchema,
  partial: countsSchema.default({}),
  ignore: z.array(z.enum(objectClasses)).default([]),
});
export type Label = z.infer<typeof labelSchema>;

/** Parses a labels file. Throws an `Error` that names the line. */
export function parseLabels(text: string): Label[] {
  return text.split('\n').flatMap((line, at) => {
    if (line.trim() === '') return [];
    try {
      return [labelSchema.parse(JSON.parse(line))];
    } catch (cause) {
      throw new Error(`Line ${at + 1} of the labels is no label`, { cause });
    }
  });
}

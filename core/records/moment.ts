import { z } from 'zod';

const timestampSchema = z.iso.datetime();

/** Maximum length of a sentence about a picture, and number of its objects. */
export const sceneLimits = { characters: 80, objects: 12, objectCharacters: 40 } as const;

/** Description of what a picture shows, whatever the conditions. */
export const sceneSchema = z.object({
  scene: z.string().min(1).max(sceneLimits.characters).optional(),
  objects: z.array(z.string().min(1).max(sceneLimits.objectCharacters)).max(sceneLimits.objects).optional(),
});

/** Verdict of a moment; `triggered` is `null` if the model did not judge the condition. */
export const momentVerdictSchema = z.object({
  condition_id: z.string(),
  triggered: z.boolean().nullable(),
  explanation: z.string(),
});

/** Picture that a model judged, in the memory of its watch. */
export const momentSchema = sceneSchema.extend({
  moment_id: z.string(),
  watch_id: z.uuid(),
  caller: z.string(),
  at: timestampSchema,
  verdicts: z.array(momentVerdictSchema).max(8),
  /** Name of the model that judged it. */
  judged_by: z.string(),
  /** Media key of the judged frame; `null` if it was not kept, or had to make room. */
  frame_key: z.string().nullable(),
  expires_at: timestampSchema,
});
export type Moment = z.infer<typeof momentSchema>;

/** Returns all that a search in words reads of a moment. */
export function momentText({ verdicts, scene = '', objects = [] }: Moment): string {
  return [...verdicts.map(({ explanation }) => explanation), scene, ...objects].join('\n');
}

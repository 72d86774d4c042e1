import { z } from 'zod';
import { apiNames } from '../api-names.ts';
import { sceneSchema } from './moment.ts';

/** Token usage of a model call. */
export const tokenUseSchema = z.object({
  input_tokens: z.int().nonnegative(),
  output_tokens: z.int().nonnegative(),
});
export type TokenUse = z.infer<typeof tokenUseSchema>;

/** Call of a model: its tokens, which are 0 if the model did not state them. */
export const modelCallSchema = tokenUseSchema.extend({
  /** True for a call without a usable result; its tokens are paid nevertheless. */
  failed: z.boolean().optional(),
});
export type ModelCall = z.infer<typeof modelCallSchema>;

const share = z.number().min(0).max(1);

/** Object that a model found in the evidence. The box is in shares of the image, 0 to 1, from its top left corner. */
export const evidenceBoxSchema = z
  .object({
    label: z.string().max(40),
    score: z.number().min(0).max(1).describe('Rank of the detection; not a probability'),
    x: share,
    y: share,
    width: share,
    height: share,
  })
  .describe('x, y, width and height: shares of the image');
apiNames.add(evidenceBoxSchema, { id: 'EvidenceBox' });
export type EvidenceBox = z.infer<typeof evidenceBoxSchema>;

/** Version of the prompt of a check. Absent from models without one. */
export const promptVersionSchema = z
  .string()
  .max(60)
  .describe('Version of the prompt; absent from built-in models');

/**
 * Time in the clip, in seconds, of the newest frame that shows the condition. `boxes` are of it. Absent: the frame of
 * the capture.
 */
export const shownAtSchema = z.number().nonnegative();

/** Result of a check. `triggered` is the first field, so that a truncated response still contains it. */
export const verdictSchema = z.object({
  triggered: z.boolean(),
  /** Reason by what is visible, 1 to 600 characters. */
  explanation: z.string().min(1).max(600),
  tokens: tokenUseSchema,
  /** Objects in the frame that the condition names, best first. Absent without any, and from models without boxes. */
  boxes: z.array(evidenceBoxSchema).max(20).optional(),
  shown_at_seconds: shownAtSchema.optional(),
  prompt_version: promptVersionSchema.optional(),
  /** False if the model cannot judge the condition by this capture; `triggered` is false then. Absent: it judged. */
  judged: z.boolean().optional(),
});
export type Verdict = z.infer<typeof verdictSchema>;

/** Answer to a question about one image. `triggered` is `null` unless it is a yes/no question that the model judged. */
export const answerSchema = z.object({
  answer: z.string(),
  triggered: z.boolean().nullable(),
  tokens: tokenUseSchema,
  judged: z.boolean().optional(),
});
export type Answer = z.infer<typeof answerSchema>;

export const queryWordLimits = { words: 24, characters: 40 } as const;

/** Words by which moments are found that show what a query describes. */
export const queryWordsSchema = z.object({
  words: z.array(z.string().max(queryWordLimits.characters)).max(queryWordLimits.words),
  tokens: tokenUseSchema,
});
export type QueryWords = z.infer<typeof queryWordsSchema>;

/** Verdicts on pictures, true if one shows what a query describes; `null` if the model has not judged it. */
export const pictureMatchesSchema = z.object({
  matches: z.array(z.boolean().nullable()),
  /** Parts of the query that the model does not judge, as a sentence. Absent without any. */
  not_judged: z.string().optional(),
  tokens: tokenUseSchema,
});
export type PictureMatches = z.infer<typeof pictureMatchesSchema>;

/**
 * Answer about numbered pictures: statements with the numbers of the pictures that show them, from 1; none if they
 * cannot answer.
 */
export const picturesAnswerSchema = z.object({
  statements: z
    .array(z.object({ text: z.string().max(500), pictures: z.array(z.number()).max(100) }))
    .max(24),
  /** Pictures that the model was shown; absent: all. */
  shown: z.int().optional(),
  tokens: tokenUseSchema,
});
export type PicturesAnswer = z.infer<typeof picturesAnswerSchema>;

export type Summary = { summary: string; tokens: TokenUse };

/**
 * Sensitivity of a condition: `high` lets objects count that the built-in object model is not sure of. Other models
 * ignore it.
 */
export const sensitivitySchema = z.enum(['normal', 'high']);
export type Sensitivity = z.infer<typeof sensitivitySchema>;

/** Condition with its id, as a model is asked about it. */
export const conditionQuestionSchema = z.object({
  condition_id: z.string(),
  condition: z.string(),
  sensitivity: sensitivitySchema.optional(),
});
export type ConditionQuestion = z.infer<typeof conditionQuestionSchema>;

/** Verdict on one of the conditions of a call; `triggered` is `null` if the model cannot judge it. */
export const conditionVerdictSchema = verdictSchema.omit({ tokens: true, judged: true }).extend({
  condition_id: z.string(),
  triggered: z.boolean().nullable(),
  /** Present if it does not hold, but the picture may show it. */
  unsure: z.literal(true).optional(),
});
export type ConditionVerdict = z.infer<typeof conditionVerdictSchema>;

/**
 * Result of one model call about conditions in the frames of a capture: for each frame its verdicts, as the model gave
 * them. An id can be missing, unknown or doubled. What the newest frame shows is absent if it was not asked for, or cut
 * off.
 */
export const momentVerdictsSchema = sceneSchema.extend({
  moments: z.array(z.array(conditionVerdictSchema)),
  tokens: tokenUseSchema,
});
export type MomentVerdicts = z.infer<typeof momentVerdictsSchema>;

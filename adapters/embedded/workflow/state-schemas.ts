import { z } from 'zod';
import { choiceRuleSchema } from './choice.ts';
import { templateSchema } from './parameters.ts';
import { referencePathSchema } from './reference-path.ts';
import { catchSchema, maxSeconds, retrySchema } from './retry.ts';

/**
 * Schemas of the states that the engine implements (Amazon States Language, query language JSONPath): the constructs of
 * `workflow/watch.asl.json`. They reject anything else.
 */

const commentSchema = z.string().optional();

/** Placeholder `${Name}`: the deployment replaces it by an ARN, the embedded engine by a function. */
const resourceSchema = z
  .string()
  .regex(/^\$\{\w+\}$/, 'must be a substitution such as ${AnalyzeFunctionArn}')
  .transform((text) => text.slice(2, -1));

const taskSchema = z.strictObject({
  Type: z.literal('Task'),
  Comment: commentSchema,
  Resource: resourceSchema,
  InputPath: referencePathSchema.optional(),
  Parameters: templateSchema.optional(),
  ResultPath: referencePathSchema.optional(),
  TimeoutSeconds: z.int().positive().max(maxSeconds).optional(),
  Retry: retrySchema.default([]),
  Catch: catchSchema.default([]),
  Next: z.string(),
});
export type TaskState = z.infer<typeof taskSchema>;

const waitSchema = z.strictObject({
  Type: z.literal('Wait'),
  Comment: commentSchema,
  TimestampPath: referencePathSchema,
  Next: z.string(),
});
export type WaitState = z.infer<typeof waitSchema>;

const choiceSchema = z.strictObject({
  Type: z.literal('Choice'),
  Comment: commentSchema,
  Choices: z.array(choiceRuleSchema).min(1),
  Default: z.string(),
});

const succeedSchema = z.strictObject({ Type: z.literal('Succeed'), Comment: commentSchema });

const failSchema = z.strictObject({
  Type: z.literal('Fail'),
  Comment: commentSchema,
  Error: z.string().optional(),
  Cause: z.string().optional(),
});

const stateSchema = z.discriminatedUnion(
  'Type',
  [taskSchema, waitSchema, choiceSchema, succeedSchema, failSchema],
  { error: 'must be one of Task, Wait, Choice, Succeed, Fail' },
);
export type State = z.infer<typeof stateSchema>;

export const definitionSchema = z.strictObject({
  Comment: commentSchema,
  StartAt: z.string(),
  States: z.record(z.string().min(1), stateSchema),
});

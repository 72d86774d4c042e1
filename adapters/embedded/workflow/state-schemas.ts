import { z } from 'zod';
import { choiceRuleSchema } from './choice.ts';
import { templateSchema } from './parameters.ts';
import { referencePathSchema } from './reference-path.ts';
import { catchSchema, maxSeconds, retrySchema } from './retry.ts';

/**
 * Schemas of the states that the engine implements (Amazon States Language, query language JSONPath). They reject anything else.
 */

const commentSchema = z.string().optional();

/** Placeholder `${Name}`: the deployment replaces it by an ARN, the embedded engine by a function. */
const resourceSchema = z
  .string()
  .regex(/^\$\{\w+\}$/, 'must be a substitution such as ${AnalyzeFunctionArn}')
  .transform((text) => text.slice(2, -1));

const goesOn = { Next: z.string().optional(), End: z.literal(true).optional() };
const eitherNextOrEnd = 'has exactly one of Next and End';

const taskSchema = z
  .strictObject({
    Type: z.literal('Task'),
    Comment: commentSchema,
    Resource: resourceSchema,
    InputPath: referencePathSchema.nullable().optional(),
    Parameters: templateSchema.optional(),
    ResultPath: referencePathSchema.nullable().optional(),
    OutputPath: referencePathSchema.nullable().optional(),
    TimeoutSeconds: z.int().positive().max(maxSeconds).optional(),
    Retry: retrySchema.default([]),
    Catch: catchSchema.default([]),
    ...goesOn,
  })
  .refine(hasOneWayOn, eitherNextOrEnd);
export type TaskState = z.infer<typeof taskSchema>;

const waitSchema = z
  .strictObject({
    Type: z.literal('Wait'),
    Comment: commentSchema,
    Seconds: z.int().nonnegative().max(maxSeconds).optional(),
    Timestamp: z.iso.datetime({ offset: true }).optional(),
    TimestampPath: referencePathSchema.optional(),
    ...goesOn,
  })
  .refine(hasOneWayOn, eitherNextOrEnd)
  .refine(
    ({ Seconds, Timestamp, TimestampPath }) =>
      [Seconds, Timestamp, TimestampPath].filter((x) => x !== undefined).length === 1,
    'has exactly one of Seconds, Timestamp and TimestampPath',
  );
export type WaitState = z.infer<typeof waitSchema>;

const choiceSchema = z.strictObject({
  Type: z.literal('Choice'),
  Comment: commentSchema,
  Choices: z.array(choiceRuleSchema).min(1),
  Default: z.string().optional(),
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

function hasOneWayOn(state: { Next?: string | undefined; End?: true | undefined }): boolean {
  return (state.Next === undefined) !== (state.End === undefined);
}

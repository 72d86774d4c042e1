import { z } from 'zod';
import { inputModeSchema, regionSchema } from '../../../core/records/capture.ts';
import type { CoreDeps } from '../../../core/dependencies.ts';
import { JobNotFoundError } from '../../../core/errors.ts';
import { failureSchema } from '../../../core/records/failure.ts';
import { digestEndSchema, sampleSchema } from '../../../core/policies/digest/records.ts';
import { summarizeWindows, type SummaryDeps } from '../../../core/policies/digest/summarize-windows.ts';
import type { CheckMedia } from '../../../core/ports/vision-model.ts';
import {
  answerSchema,
  conditionQuestionSchema,
  modelCallSchema,
  momentVerdictsSchema,
  pictureMatchesSchema,
  picturesAnswerSchema,
  queryWordsSchema,
  tokenUseSchema,
} from '../../../core/records/vision.ts';
import { bytesSchema } from './invoke.ts';

const dateSchema = z.codec(z.iso.datetime(), z.date(), {
  decode: (text) => new Date(text),
  encode: (date) => date.toISOString(),
});
const secondsSchema = z.number().nonnegative();

const closingSchema = z.object({
  spans: z.array(
    z.object({ index: z.int().positive(), start: dateSchema, end: dateSchema, partial: z.boolean() }),
  ),
  samples: z.array(sampleSchema),
  last: z.boolean(),
  end: digestEndSchema.nullable(),
});

const checkMediaSchema = z.object({
  mode: inputModeSchema,
  frame: bytesSchema,
  clip: bytesSchema.optional(),
  earlier: z
    .array(z.object({ frame: bytesSchema, secondsBefore: z.number() }))
    .readonly()
    .optional(),
  previous: bytesSchema.optional(),
  regions: z.array(regionSchema).readonly().nullable().optional(),
  describes: z.boolean().optional(),
}) satisfies z.ZodType<CheckMedia>;

/** Direct calls of `analyze`, besides workflow tasks. `seconds` is the timeout of the caller. */
export const analyzeCallSchema = z.discriminatedUnion('operation', [
  z.object({
    operation: z.literal('judge'),
    seconds: secondsSchema,
    media: checkMediaSchema,
    questions: z.array(conditionQuestionSchema).readonly(),
  }),
  z.object({
    operation: z.literal('answer'),
    seconds: secondsSchema,
    frame: bytesSchema,
    question: z.string(),
  }),
  z.object({ operation: z.literal('words'), seconds: secondsSchema, query: z.string() }),
  z.object({
    operation: z.literal('matches'),
    seconds: secondsSchema,
    pictures: z.array(bytesSchema),
    query: z.string(),
  }),
  z.object({
    operation: z.literal('answer_about'),
    seconds: secondsSchema,
    pictures: z.array(
      z.object({ frame: bytesSchema, camera: z.string(), time: z.string(), sentence: z.string() }),
    ),
    question: z.string(),
  }),
  z.object({
    operation: z.literal('summarize'),
    seconds: secondsSchema,
    job_id: z.uuid(),
    closing: closingSchema,
  }),
]);
export type AnalyzeCall = z.output<typeof analyzeCallSchema>;

const calls = z.array(modelCallSchema).optional();
export const judgeAnswerSchema = momentVerdictsSchema.extend({ calls });
export const answerAnswerSchema = answerSchema.extend({ calls });
export const wordsAnswerSchema = queryWordsSchema.extend({ calls });
export const matchesAnswerSchema = pictureMatchesSchema.extend({ calls });

/** Result of `answer_about`. */
export const picturesAnswerAnswerSchema = picturesAnswerSchema.extend({ calls });

/** Result of `summarize`: the part of `ClosureResult` that the caller lacks. */
export const summarizeAnswerSchema = z.object({
  result: z.discriminatedUnion('kind', [
    z.object({
      kind: z.literal('summarized'),
      summary: z.object({ summary: z.string(), tokens: tokenUseSchema }),
    }),
    z.object({ kind: z.literal('none'), why: z.string().nullable() }),
    z.object({ kind: z.literal('missed'), failure: failureSchema }),
  ]),
  gridKey: z.string().nullable(),
});

export type AnalyzeCallDeps = SummaryDeps & Pick<CoreDeps, 'runs' | 'now'>;

/** Handles a direct call in `analyze`. Throws the errors of the ports. */
export async function handleAnalyzeCall(call: AnalyzeCall, deps: AnalyzeCallDeps): Promise<unknown> {
  switch (call.operation) {
    case 'judge':
      return deps.vision.judge(call.media, call.questions, timeoutSignal(call));
    case 'answer':
      return deps.vision.answer(call.frame, call.question, timeoutSignal(call));
    case 'words':
      return deps.vision.words(call.query, timeoutSignal(call));
    case 'matches':
      return deps.vision.matches(call.pictures, call.query, timeoutSignal(call));
    case 'answer_about':
      return deps.vision.answerAbout(call.pictures, call.question, timeoutSignal(call));
    case 'summarize': {
      const job = await deps.runs.get(call.job_id, deps.now());
      if (job?.policy !== 'digest') throw new JobNotFoundError();
      const { result, gridKey } = await summarizeWindows(job, call.closing, deps, { seconds: call.seconds });
      return { result, gridKey };
    }
  }
}

function timeoutSignal({ seconds }: AnalyzeCall): AbortSignal {
  return AbortSignal.timeout(seconds * 1000);
}

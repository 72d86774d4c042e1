import { z } from 'zod';
import { inputModeSchema } from '../../../core/capture.ts';
import type { Collaborators } from '../../../core/collaborators.ts';
import { sampleSchema } from '../../../core/digest/digest-state.ts';
import { JobNotFoundError } from '../../../core/errors.ts';
import { failureSchema } from '../../../core/job.ts';
import { summarizeWindows } from '../../../core/operations/summarize-windows.ts';
import type { SummaryNeeds } from '../../../core/operations/summarize-windows.ts';
import { tokenUseSchema, verdictSchema } from '../../../core/vision.ts';
import { bytesSchema } from './bytes.ts';

const dateSchema = z.iso.datetime().transform((text) => new Date(text));
const secondsSchema = z.number().nonnegative();

const closingSchema = z.object({
  spans: z.array(
    z.object({ index: z.int().positive(), start: dateSchema, end: dateSchema, partial: z.boolean() }),
  ),
  samples: z.array(sampleSchema),
  last: z.boolean(),
  endsAt: dateSchema.nullable(),
});

/** What `analyze` is called for besides the workflow's tasks; `seconds`: how long the caller waits. */
export const analyzeCallSchema = z.discriminatedUnion('operation', [
  z.object({
    operation: z.literal('judge'),
    seconds: secondsSchema,
    mode: inputModeSchema,
    frame: bytesSchema,
    clip: bytesSchema.nullable(),
    condition: z.string(),
  }),
  z.object({
    operation: z.literal('answer'),
    seconds: secondsSchema,
    frame: bytesSchema,
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
export type AnalyzeCallInput = z.input<typeof analyzeCallSchema>;

export const judgeAnswerSchema = verdictSchema;

export const answerAnswerSchema = z.object({
  answer: z.string(),
  triggered: z.boolean().nullable(),
  tokens: tokenUseSchema,
});

/** Of `ClosedWindows` what the caller does not have. */
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

export type AnalyzeCallNeeds = SummaryNeeds & Pick<Collaborators, 'jobs' | 'now'>;

/** Answers a call, in `analyze`. Throws the errors of the ports. */
export async function answerAnalyzeCall(call: AnalyzeCall, c: AnalyzeCallNeeds): Promise<unknown> {
  switch (call.operation) {
    case 'judge': {
      const { mode, frame, clip, condition } = call;
      return c.vision.judge({ mode, frame, ...(clip && { clip }) }, condition, patience(call));
    }
    case 'answer':
      return c.vision.answer(call.frame, call.question, patience(call));
    case 'summarize': {
      const job = await c.jobs.get(call.job_id, c.now());
      if (job?.job_type !== 'live-digest') throw new JobNotFoundError();
      const { result, gridKey } = await summarizeWindows(job, call.closing, c, { seconds: call.seconds });
      return { result, gridKey };
    }
  }
}

function patience({ seconds }: AnalyzeCall): AbortSignal {
  return AbortSignal.timeout(seconds * 1000);
}

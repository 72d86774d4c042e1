import { z } from 'zod';
import { TransientError } from '../../../core/errors.ts';
import { VisionError } from '../../../core/vision-errors.ts';
import { anyCondition, type VisionModel, type WindowSummarizer } from '../../../core/ports/vision-model.ts';
import type { DescribedModel } from '../../vision/aws-provider.ts';
import {
  type AnalyzeCall,
  analyzeCallSchema,
  answerAnswerSchema,
  judgeAnswerSchema,
  matchesAnswerSchema,
  picturesAnswerAnswerSchema,
  wordsAnswerSchema,
  summarizeAnswerSchema,
} from './analyze-calls.ts';
import type { Invoke } from './invoke.ts';
import { unwrapOutcome } from './outcome.ts';

export type RemoteModelOptions = {
  invoke: Invoke;
  /** Timeout of a model call, in seconds. */
  seconds: number;
  /** Model of `analyze`. */
  model: DescribedModel;
};

/** Creates a model that invokes `analyze`. `createRemoteSummarizer` requests summaries of whole windows. */
export function createRemoteModel({
  invoke,
  seconds,
  model: { provider, model, ...described },
}: RemoteModelOptions): Omit<VisionModel, 'lifecycle' | 'summarize'> {
  return {
    provider,
    model,
    capabilities: { ...anyCondition, ...described },
    judge: async (media, questions, signal) =>
      ask(invoke, { operation: 'judge', seconds, media, questions }, judgeAnswerSchema, signal),
    answer: async (frame, question, signal) =>
      ask(invoke, { operation: 'answer', seconds, frame, question }, answerAnswerSchema, signal),
    words: async (query, signal) =>
      ask(invoke, { operation: 'words', seconds, query }, wordsAnswerSchema, signal),
    matches: async (pictures, query, signal) =>
      ask(
        invoke,
        { operation: 'matches', seconds, pictures: [...pictures], query },
        matchesAnswerSchema,
        signal,
      ),
    answerAbout: async (pictures, question, signal) =>
      ask(
        invoke,
        { operation: 'answer_about', seconds, pictures: [...pictures], question },
        picturesAnswerAnswerSchema,
        signal,
      ),
  };
}

/** Additional time of the caller for reading the frames and returning the result. */
const marginSeconds = 3;

/** Summarizes the last windows of cancelled digests in `analyze`, which has the model and the frames. */
export function createRemoteSummarizer(invoke: Invoke): WindowSummarizer {
  return {
    summarize: async (job, closing, seconds) => {
      const call = { operation: 'summarize', seconds, job_id: job.run_id, closing } as const;
      const signal = AbortSignal.timeout((seconds + marginSeconds) * 1000);
      const outcome = await invoke(z.encode(analyzeCallSchema, call), signal);
      return { closing, ...unwrapOutcome(outcome, summarizeAnswerSchema) };
    },
  };
}

async function ask<Value>(
  invoke: Invoke,
  call: AnalyzeCall,
  schema: z.ZodType<Value>,
  signal: AbortSignal,
): Promise<Value> {
  try {
    return unwrapOutcome(await invoke(z.encode(analyzeCallSchema, call), signal), schema);
  } catch (cause) {
    if (signal.aborted && !(cause instanceof VisionError))
      throw new VisionError('The model did not respond in time. Try again.', { cause });
    if (cause instanceof TransientError)
      throw new VisionError('The model could not be called. Try again in a few seconds.', {
        cause,
        calls: [],
      });
    throw cause;
  }
}

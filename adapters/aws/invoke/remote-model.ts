import type { z } from 'zod';
import { TransientError, VisionError } from '../../../core/errors.ts';
import type { VisionModel } from '../../../core/ports/vision-model.ts';
import type { WindowSummarizer } from '../../../core/ports/window-summarizer.ts';
import { answerAnswerSchema, judgeAnswerSchema, summarizeAnswerSchema } from './analyze-calls.ts';
import type { AnalyzeCallInput } from './analyze-calls.ts';
import { base64 } from './bytes.ts';
import type { Invoke } from './invoke.ts';
import { unwrapOutcome } from './outcome.ts';

/** Options of `createRemoteModel`. */
export type RemoteModelOptions = {
  invoke: Invoke;
  /** Timeout of a model call, in seconds. */
  seconds: number;
  /** Model of `analyze`. */
  model: Pick<VisionModel, 'provider' | 'model' | 'supportsVideo' | 'judgesMoments'>;
};

/** Creates a model that invokes `analyze`. `createRemoteSummarizer` requests summaries of whole windows. */
export function createRemoteModel({
  invoke,
  seconds,
  model,
}: RemoteModelOptions): Omit<VisionModel, 'summarize'> {
  return {
    ...model,
    judge: async ({ mode, frame, clip }, condition, signal) => {
      const pictures = { frame: base64(frame), clip: clip === undefined ? null : base64(clip) };
      const input = { operation: 'judge', seconds, mode, condition, ...pictures } as const;
      return ask(invoke, input, judgeAnswerSchema, signal);
    },
    answer: async (frame, question, signal) => {
      const input = { operation: 'answer', seconds, question, frame: base64(frame) } as const;
      return ask(invoke, input, answerAnswerSchema, signal);
    },
  };
}

/** Additional time of the caller for reading the frames and returning the result. */
const marginSeconds = 3;

/** Summarizes the last windows of cancelled digests in `analyze`, which has the model and the frames. */
export function createRemoteSummarizer(invoke: Invoke): WindowSummarizer {
  return {
    summarize: async (job, closing, seconds) => {
      const { run_id: job_id } = job;
      const spans = closing.spans.map(({ start, end, ...span }) => ({
        ...span,
        start: start.toISOString(),
        end: end.toISOString(),
      }));
      const input = { operation: 'summarize', seconds, job_id } as const;
      const signal = AbortSignal.timeout((seconds + marginSeconds) * 1000);
      const outcome = await invoke({ ...input, closing: { ...closing, spans } }, signal);
      return { closing, ...unwrapOutcome(outcome, summarizeAnswerSchema) };
    },
  };
}

async function ask<Value>(
  invoke: Invoke,
  input: AnalyzeCallInput,
  schema: z.ZodType<Value>,
  signal: AbortSignal,
): Promise<Value> {
  try {
    return unwrapOutcome(await invoke(input, signal), schema);
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

import type { z } from 'zod';
import { TransientError, VisionError } from '../../../core/errors.ts';
import type { VisionModel } from '../../../core/ports/vision-model.ts';
import type { WindowSummaries } from '../../../core/ports/window-summaries.ts';
import { cheapestWithVideo, modelFamily } from '../../vision/bedrock/model-families.ts';
import { answerAnswerSchema, judgeAnswerSchema, summarizeAnswerSchema } from './analyze-calls.ts';
import type { AnalyzeCallInput } from './analyze-calls.ts';
import { base64 } from './bytes.ts';
import type { Invoke } from './invoke.ts';
import { valueOf } from './outcome.ts';

export type RemoteModelOptions = {
  invoke: Invoke;
  /** How long the model may take. */
  seconds: number;
  /** The one that `analyze` asks; undefined for its default. */
  modelId: string | undefined;
};

/** The model, asked by the function that may: `analyze`. Summaries of windows are asked for as a whole, by `createRemoteSummaries`. */
export function createRemoteModel({
  invoke,
  seconds,
  modelId,
}: RemoteModelOptions): Omit<VisionModel, 'summarize'> {
  const model = modelId ?? cheapestWithVideo;
  return {
    provider: 'bedrock',
    model,
    takesVideo: modelFamily(model).takesVideo,
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

/** A little longer than the model may take, for the pictures to be read and the answer to come back. */
const marginSeconds = 3;

/** Last windows of cancelled digests, summarised where the model may be asked and the pictures are at hand. */
export function createRemoteSummaries(invoke: Invoke): WindowSummaries {
  return {
    summarize: async (job, closing, seconds) => {
      const { job_id } = job;
      const spans = closing.spans.map(({ start, end, ...span }) => ({
        ...span,
        start: start.toISOString(),
        end: end.toISOString(),
      }));
      const endsAt = closing.endsAt?.toISOString() ?? null;
      const input = { operation: 'summarize', seconds, job_id } as const;
      const signal = AbortSignal.timeout((seconds + marginSeconds) * 1000);
      const outcome = await invoke({ ...input, closing: { ...closing, spans, endsAt } }, signal);
      return { closing, ...valueOf(outcome, summarizeAnswerSchema) };
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
    return valueOf(await invoke(input, signal), schema);
  } catch (cause) {
    if (signal.aborted && !(cause instanceof VisionError))
      throw new VisionError('The model did not respond in time. Try again.', { cause });
    if (cause instanceof TransientError)
      throw new VisionError('The model could not be asked. Usually this passes; try again.', { cause });
    throw cause;
  }
}

import type { VisionModel } from './ports/vision-model.ts';
import type { TokenUse } from './records/vision.ts';

/** Runs a model call, which can be aborted by `signal`. */
export type AroundCall = <Result extends { tokens: TokenUse }>(
  call: () => Promise<Result>,
  signal: AbortSignal,
) => Promise<Result>;

/** Returns a model that makes each of its calls through `around`. A call that the model lacks stays absent. */
export function wrapModel(model: VisionModel, around: AroundCall): VisionModel {
  const judgeConditions = model.judgeConditions?.bind(model);
  const judgeMoments = model.judgeMoments?.bind(model);
  return {
    ...model,
    ...(judgeConditions && {
      judgeConditions: async (media, questions, signal) =>
        around(async () => judgeConditions(media, questions, signal), signal),
    }),
    ...(judgeMoments && {
      judgeMoments: async (frames, questions, options, signal) =>
        around(async () => judgeMoments(frames, questions, options, signal), signal),
    }),
    judge: async (media, condition, signal) =>
      around(async () => model.judge(media, condition, signal), signal),
    answer: async (frame, question, signal) =>
      around(async () => model.answer(frame, question, signal), signal),
    summarize: async (samples, signal) => around(async () => model.summarize(samples, signal), signal),
  };
}

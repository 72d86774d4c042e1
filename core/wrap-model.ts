import type { VisionModel } from './ports/vision-model.ts';
import type { TokenUse } from './records/vision.ts';

/** Runs a model call, which can be aborted by `signal`. */
type AroundCall = <Result extends { tokens: TokenUse }>(
  call: () => Promise<Result>,
  signal: AbortSignal,
) => Promise<Result>;

/** Returns a model that makes each of its calls through `around`. */
export function wrapModel(model: VisionModel, around: AroundCall): VisionModel {
  return {
    ...model,
    judge: async (media, questions, signal) =>
      around(async () => model.judge(media, questions, signal), signal),
    answer: async (frame, question, signal) =>
      around(async () => model.answer(frame, question, signal), signal),
    words: async (query, signal) => around(async () => model.words(query, signal), signal),
    matches: async (pictures, query, signal) =>
      around(async () => model.matches(pictures, query, signal), signal),
    answerAbout: async (pictures, question, signal) =>
      around(async () => model.answerAbout(pictures, question, signal), signal),
    summarize: async (samples, signal) => around(async () => model.summarize(samples, signal), signal),
  };
}

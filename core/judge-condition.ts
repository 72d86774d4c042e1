import { VisionError } from './errors.ts';
import type { Called, CheckMedia, VisionModel } from './ports/vision-model.ts';
import type { ConditionQuestion, Verdict, TokenUse } from './records/vision.ts';

/** Checks one condition in the newest frame of a capture. Throws the errors of `judge`. */
export async function judgeCondition(
  vision: Pick<VisionModel, 'judge'>,
  media: CheckMedia,
  question: Omit<ConditionQuestion, 'condition_id'>,
  signal: AbortSignal,
): Promise<Verdict & Called> {
  const condition_id = 'condition';
  const { moments, tokens, calls } = await vision.judge(media, [{ condition_id, ...question }], signal);
  const answer = moments.at(-1)?.find((entry) => entry.condition_id === condition_id);
  if (answer === undefined)
    throw new VisionError('The model has left the condition out. Try again.', { calls: calls ?? [tokens] });
  const { condition_id: _, triggered, ...verdict } = answer;
  return {
    ...verdict,
    triggered: triggered === true,
    ...(triggered === null && { judged: false }),
    tokens,
    ...(calls && { calls }),
  };
}

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

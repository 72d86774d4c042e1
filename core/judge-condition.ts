import { VisionError } from './errors.ts';
import type { Called, CheckMedia, VisionModel } from './ports/vision-model.ts';
import type { ConditionQuestion, Verdict } from './records/vision.ts';

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

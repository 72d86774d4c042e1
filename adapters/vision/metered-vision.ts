import { VisionError } from '../../core/errors.ts';
import type { Meter } from '../../core/ports/meter.ts';
import type { VisionModel } from '../../core/ports/vision-model.ts';

/** Counts model calls. Input rejected before the request is no call, an aborted call no error. */
export function meteredVision(model: VisionModel, meter: Meter): VisionModel {
  const count = (failed: boolean) => meter.count({ kind: 'model_call', provider: model.provider, failed });

  async function metered<T>(ask: () => Promise<T>, signal: AbortSignal): Promise<T> {
    try {
      const answer = await ask();
      await count(false);
      return answer;
    } catch (error) {
      if (error instanceof VisionError) await count(!isCancelled(signal));
      throw error;
    }
  }
  const { judgeConditions } = model;
  return {
    ...model,
    ...(judgeConditions && {
      judgeConditions: (look, questions, signal) =>
        metered(() => judgeConditions(look, questions, signal), signal),
    }),
    judge: (look, condition, signal) => metered(() => model.judge(look, condition, signal), signal),
    answer: (frame, question, signal) => metered(() => model.answer(frame, question, signal), signal),
    summarize: (samples, signal) => metered(() => model.summarize(samples, signal), signal),
  };
}

/** Returns true if a cancellation or shutdown aborted the call, not its timeout. */
function isCancelled({ aborted, reason }: AbortSignal): boolean {
  return aborted && !(reason instanceof DOMException && reason.name === 'TimeoutError');
}

import { VisionError } from '../../core/errors.ts';
import type { Meter } from '../../core/ports/meter.ts';
import type { VisionModel } from '../../core/ports/vision-model.ts';

/**
 * The same model, with each of its calls counted once it is over. An error is the model's (`VisionError`): a picture that was refused before it
 * was asked is no call, and a call that we abandoned is no error.
 */
export function meteredVision(model: VisionModel, meter: Meter): VisionModel {
  const count = (failed: boolean) => meter.count({ kind: 'model_call', provider: model.provider, failed });

  async function metered<T>(ask: () => Promise<T>, signal: AbortSignal): Promise<T> {
    try {
      const answer = await ask();
      await count(false);
      return answer;
    } catch (error) {
      if (error instanceof VisionError) await count(!isAbandoned(signal));
      throw error;
    }
  }
  return {
    ...model,
    judge: (look, condition, signal) => metered(() => model.judge(look, condition, signal), signal),
    answer: (frame, question, signal) => metered(() => model.answer(frame, question, signal), signal),
    summarize: (samples, signal) => metered(() => model.summarize(samples, signal), signal),
  };
}

/** Ended by a cancellation or a shutdown rather than by its time limit. */
function isAbandoned({ aborted, reason }: AbortSignal): boolean {
  return aborted && !(reason instanceof DOMException && reason.name === 'TimeoutError');
}

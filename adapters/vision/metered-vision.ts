import type { Meter } from '../../core/ports/meter.ts';
import type { VisionModel } from '../../core/ports/vision-model.ts';

/** The same model, with each of its calls counted once it is over: the provider's name, and whether it failed. */
export function meteredVision(model: VisionModel, meter: Meter): VisionModel {
  async function metered<T>(ask: () => Promise<T>): Promise<T> {
    let failed = true;
    try {
      const answer = await ask();
      failed = false;
      return answer;
    } finally {
      await meter.count({ kind: 'model_call', provider: model.provider, failed });
    }
  }
  return {
    ...model,
    judge: (...given) => metered(() => model.judge(...given)),
    answer: (...given) => metered(() => model.answer(...given)),
    summarize: (...given) => metered(() => model.summarize(...given)),
  };
}

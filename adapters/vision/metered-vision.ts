import { TooManyFramesError, VisionError } from '../../core/vision-errors.ts';
import type { Meter } from '../../core/ports/usage.ts';
import { type VisionModel, wrapModel } from '../../core/ports/vision-model.ts';

/** Counts model calls, as the use of callers does, except that an aborted call is no error. */
export function meteredVision(model: VisionModel, meter: Meter): VisionModel {
  const count = (failed: boolean) => meter.count({ kind: 'model_call', provider: model.provider, failed });

  return wrapModel(model, async (call, signal) => {
    try {
      const answer = await call();
      await count(false);
      return answer;
    } catch (error) {
      if (error instanceof VisionError || error instanceof TooManyFramesError)
        for (const _ of error.calls) await count(!isCancelled(signal));
      throw error;
    }
  });
}

/** Returns true if a cancellation or shutdown aborted the call, not its timeout. */
function isCancelled({ aborted, reason }: AbortSignal): boolean {
  return aborted && !(reason instanceof DOMException && reason.name === 'TimeoutError');
}

import { VisionError } from '../../../core/errors.ts';
import type { MetricsSink } from '../../../core/ports/metrics.ts';
import type { VisionModel } from '../../../core/ports/vision-model.ts';
import { wrapModel } from '../../../core/wrap-model.ts';

/** Metrics and their clock. */
export type Clocked = {
  measurements: MetricsSink;
  /** Monotonic clock, in milliseconds. */ elapsedMs: () => number;
};

/** Adds metrics for calls, errors, latency and tokens to a model. */
export function instrumentVision(model: VisionModel, { measurements, elapsedMs }: Clocked): VisionModel {
  return wrapModel(model, async (call) => {
    const beganMs = elapsedMs();
    measurements.add('ModelCalls');
    try {
      const answer = await call();
      measurements.add('ModelLatency', elapsedMs() - beganMs);
      measurements.add('InputTokens', answer.tokens.input_tokens);
      measurements.add('OutputTokens', answer.tokens.output_tokens);
      return answer;
    } catch (error) {
      if (error instanceof VisionError) measurements.add('ModelErrors');
      if (error instanceof VisionError && isThrottling(error.cause)) measurements.add('ModelThrottles');
      throw error;
    }
  });
}

function isThrottling(cause: unknown): boolean {
  return cause instanceof Error && cause.name === 'ThrottlingException';
}

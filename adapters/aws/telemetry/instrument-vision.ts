import { TooManyFramesError, VisionError } from '../../../core/errors.ts';
import type { MetricsSink } from '../../../core/ports/observability.ts';
import { type VisionModel, wrapModel } from '../../../core/ports/vision-model.ts';
import type { ModelCall } from '../../../core/records/vision.ts';

/** Metrics and their clock. */
export type Clocked = {
  measurements: MetricsSink;
  /** Monotonic clock, in milliseconds. */ elapsedMs: () => number;
};

/** Adds metrics for calls, errors, latency and tokens to a model. */
export function instrumentVision(model: VisionModel, { measurements, elapsedMs }: Clocked): VisionModel {
  const count = ({ input_tokens: input, output_tokens: output, failed }: ModelCall) => {
    measurements.add('ModelCalls');
    if (failed) measurements.add('ModelErrors');
    measurements.add('InputTokens', input);
    measurements.add('OutputTokens', output);
  };
  return wrapModel(model, async (call) => {
    const beganMs = elapsedMs();
    try {
      const answer = await call();
      measurements.add('ModelLatency', elapsedMs() - beganMs);
      count(answer.tokens);
      return answer;
    } catch (error) {
      if (error instanceof VisionError || error instanceof TooManyFramesError) error.calls.forEach(count);
      if (error instanceof VisionError && isThrottling(error.cause)) measurements.add('ModelThrottles');
      throw error;
    }
  });
}

function isThrottling(cause: unknown): boolean {
  return cause instanceof Error && cause.name === 'ThrottlingException';
}

import { VisionError } from '../../../core/errors.ts';
import type { MetricsSink } from '../../../core/ports/metrics.ts';
import type { VisionModel } from '../../../core/ports/vision-model.ts';
import type { TokenUse } from '../../../core/records/vision.ts';

/** Metrics and their clock. */
export type Clocked = {
  measurements: MetricsSink;
  /** Monotonic clock, in milliseconds. */ elapsedMs: () => number;
};

/** Adds metrics for calls, errors, latency and tokens to a model. */
export function instrumentVision(model: VisionModel, { measurements, elapsedMs }: Clocked): VisionModel {
  async function measured<Answer extends { tokens: TokenUse }>(ask: () => Promise<Answer>): Promise<Answer> {
    const beganMs = elapsedMs();
    measurements.add('ModelCalls');
    try {
      const answer = await ask();
      measurements.add('ModelLatency', elapsedMs() - beganMs);
      measurements.add('InputTokens', answer.tokens.input_tokens);
      measurements.add('OutputTokens', answer.tokens.output_tokens);
      return answer;
    } catch (error) {
      if (error instanceof VisionError) measurements.add('ModelErrors');
      if (error instanceof VisionError && isThrottling(error.cause)) measurements.add('ModelThrottles');
      throw error;
    }
  }
  const { judgeConditions } = model;
  return {
    ...model,
    ...(judgeConditions && {
      judgeConditions: (look, questions, signal) => measured(() => judgeConditions(look, questions, signal)),
    }),
    judge: (look, condition, signal) => measured(() => model.judge(look, condition, signal)),
    answer: (frame, question, signal) => measured(() => model.answer(frame, question, signal)),
    summarize: (samples, signal) => measured(() => model.summarize(samples, signal)),
  };
}

function isThrottling(cause: unknown): boolean {
  return cause instanceof Error && cause.name === 'ThrottlingException';
}

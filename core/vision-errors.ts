import { WatchpostError } from './errors.ts';
import type { ModelCall } from './records/vision.ts';

/** Failure of the model: throttled beyond all retries, unreachable, or an invalid result. */
export class VisionError extends WatchpostError {
  override name = 'VisionError';
  /** Calls that the failure has cost: none if the model was not called. */
  calls: readonly ModelCall[];

  constructor(
    remediation: string,
    {
      calls = [{ input_tokens: 0, output_tokens: 0, failed: true }],
      ...options
    }: ErrorOptions & { calls?: readonly ModelCall[] } = {},
  ) {
    super('VLM_ERROR', 'Vision model analysis failed', remediation, options);
    this.calls = calls;
  }
}

/**
 * The model of this machine has more images to judge than it can in time: a check is missed by the service, not by the
 * model.
 */
export class ModelBusyError extends VisionError {
  override name = 'ModelBusyError';

  constructor(options?: ErrorOptions) {
    super('Use longer intervals, fewer jobs or a faster machine, or try again in a minute.', {
      ...options,
      calls: [],
    });
  }
}

/**
 * The model takes fewer frames in one call than it was sent: each frame needs a call of its own. Stays inside of a
 * check.
 */
export class TooManyFramesError extends Error {
  override name = 'TooManyFramesError';
  /** Call whose tokens were used up for no answer; a refused one costs nothing. */
  readonly calls: readonly ModelCall[];

  constructor(cause?: VisionError) {
    super('The model takes fewer pictures in one request', { cause });
    this.calls = (cause?.calls ?? []).filter(({ input_tokens: input }) => input > 0);
  }
}

import type { Context } from 'aws-lambda';
import { z } from 'zod';
import { handleCaptureCall, captureCallSchema } from '../../adapters/aws/invoke/capture-calls.ts';
import { createExecutionState } from '../../adapters/aws/execution-state.ts';
import { toOutcome } from '../../adapters/aws/invoke/outcome.ts';
import { captureTick, tooSlow } from '../../core/workflow/capture-tick.ts';
import { waitAtMost } from '../../core/time-limit.ts';
import { captureInputSchema } from '../../core/records/workflow.ts';
import type { CaptureFunctionDeps } from './dependencies.ts';

/** Event of the function: the workflow state, or a call of another function with an `operation`. */
const eventSchema = z.union([captureCallSchema, captureInputSchema]);

/** Time that remains for the result of a capture that ignores its time limit, in milliseconds. */
const resultMs = 3_000;

/**
 * Creates the handler: captures ticks, and handles calls of other functions. Throws for an invalid event. A slow stream
 * is a result: a timeout of Lambda would count as an error of the function.
 */
export function createHandler(deps: CaptureFunctionDeps) {
  const execution = createExecutionState(deps);
  return (event: unknown, context: Context): Promise<unknown> =>
    deps.during(context, async () => {
      const input = eventSchema.parse(event);
      if ('operation' in input) return toOutcome(() => handleCaptureCall(input, deps));
      const availableMs = context.getRemainingTimeInMillis() - resultMs;
      const beganAt = deps.now().toISOString();
      const expire = () => ({ ...tooSlow(Math.round(availableMs / 1000)), began_at: beganAt });
      const capture = async () => captureTick(await execution.withMotion(input), deps);
      const output = await waitAtMost(availableMs, capture(), expire, deps.setTimer);
      return execution.storeOutput(input, deps.newId(), output);
    });
}

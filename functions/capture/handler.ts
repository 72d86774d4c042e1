import type { Context } from 'aws-lambda';
import { z } from 'zod';
import { handleCaptureCall, captureCallSchema } from '../../adapters/aws/invoke/capture-calls.ts';
import { toOutcome } from '../../adapters/aws/invoke/outcome.ts';
import { captureTick } from '../../core/workflow/capture-tick.ts';
import { captureInputSchema } from '../../core/records/workflow.ts';
import type { CaptureFunctionDeps } from './dependencies.ts';

/** Event of the function: the workflow state, or a call of another function with an `operation`. */
const eventSchema = z.union([captureCallSchema, captureInputSchema]);

/** Creates the handler: captures ticks, and handles calls of other functions. Throws for an invalid event. */
export function createHandler(deps: CaptureFunctionDeps) {
  return (event: unknown, context: Context): Promise<unknown> =>
    deps.during(context, async () => {
      const input = eventSchema.parse(event);
      return 'operation' in input
        ? toOutcome(() => handleCaptureCall(input, deps))
        : captureTick(input, deps);
    });
}

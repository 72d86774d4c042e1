import type { Context } from 'aws-lambda';
import { z } from 'zod';
import { answerCaptureCall, captureCallSchema } from '../../adapters/aws/invoke/capture-calls.ts';
import { outcomeOf } from '../../adapters/aws/invoke/outcome.ts';
import { captureTick } from '../../core/operations/capture-tick.ts';
import { captureInputSchema } from '../../core/workflow.ts';
import type { CaptureDependencies } from './dependencies.ts';

/** Event of the function: the workflow state, or a call of another function with an `operation`. */
const eventSchema = z.union([captureCallSchema, captureInputSchema]);

/** Creates the handler: captures ticks, and handles calls of other functions. Throws for an invalid event. */
export function createHandler(c: CaptureDependencies) {
  return (event: unknown, context: Context): Promise<unknown> =>
    c.during(context, async () => {
      const input = eventSchema.parse(event);
      return 'operation' in input ? outcomeOf(() => answerCaptureCall(input, c)) : captureTick(input, c);
    });
}

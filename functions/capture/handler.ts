import type { Context } from 'aws-lambda';
import { z } from 'zod';
import { answerCaptureCall, captureCallSchema } from '../../adapters/aws/invoke/capture-calls.ts';
import { outcomeOf } from '../../adapters/aws/invoke/outcome.ts';
import { captureTick } from '../../core/operations/capture-tick.ts';
import { captureInputSchema } from '../../core/workflow.ts';
import type { CaptureDependencies } from './dependencies.ts';

/** The workflow's state is a tick's input as it is; calls of other functions name an operation. */
const eventSchema = z.union([captureCallSchema, captureInputSchema]);

/** Takes the captures of ticks, and answers what other functions want of streams and pictures. */
export function createHandler(c: CaptureDependencies) {
  return (event: unknown, context: Context): Promise<unknown> =>
    c.during(context, async () => {
      const input = eventSchema.parse(event);
      return 'operation' in input ? outcomeOf(() => answerCaptureCall(input, c)) : captureTick(input, c);
    });
}

import type { Context } from 'aws-lambda';
import { z } from 'zod';
import { analyzeCallSchema, answerAnalyzeCall } from '../../adapters/aws/invoke/analyze-calls.ts';
import { outcomeOf } from '../../adapters/aws/invoke/outcome.ts';
import { analyzeTask } from '../../core/operations/tasks.ts';
import { analyzeInputSchema } from '../../core/workflow.ts';
import type { AnalyzeDependencies } from './dependencies.ts';

const eventSchema = z.discriminatedUnion('operation', [analyzeInputSchema, analyzeCallSchema]);

/** Creates the handler: runs workflow tasks, and model calls for other functions. Throws for an invalid event. */
export function createHandler(c: AnalyzeDependencies) {
  return (event: unknown, context: Context): Promise<unknown> =>
    c.during(context, async () => {
      const input = eventSchema.parse(event);
      switch (input.operation) {
        case 'judge':
        case 'answer':
        case 'summarize':
          return outcomeOf(() => answerAnalyzeCall(input, c));
        case 'begin':
        case 'analyze':
        case 'close':
          return analyzeTask(input, c);
      }
    });
}

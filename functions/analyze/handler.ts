import type { Context } from 'aws-lambda';
import { z } from 'zod';
import { analyzeCallSchema, answerAnalyzeCall } from '../../adapters/aws/invoke/analyze-calls.ts';
import { outcomeOf } from '../../adapters/aws/invoke/outcome.ts';
import { analyzeTask } from '../../core/operations/tasks.ts';
import { analyzeInputSchema } from '../../core/workflow.ts';
import type { AnalyzeDependencies } from './dependencies.ts';

const eventSchema = z.discriminatedUnion('operation', [analyzeInputSchema, analyzeCallSchema]);

/** Does the workflow's tasks, and answers what other functions want of the model. */
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

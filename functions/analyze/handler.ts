import type { Context } from 'aws-lambda';
import { z } from 'zod';
import { analyzeCallSchema, handleAnalyzeCall } from '../../adapters/aws/invoke/analyze-calls.ts';
import { toOutcome } from '../../adapters/aws/invoke/outcome.ts';
import { analyzeTask } from '../../core/workflow/tasks.ts';
import { analyzeInputSchema } from '../../core/records/workflow.ts';
import type { AnalyzeInput } from '../../core/records/workflow.ts';
import { rules } from '../../core/rules.ts';
import { ageSeconds } from '../../core/time.ts';
import type { AnalyzeFunctionDeps } from './dependencies.ts';

const eventSchema = z.discriminatedUnion('operation', [analyzeInputSchema, analyzeCallSchema]);

/** Creates the handler: runs workflow tasks, and model calls for other functions. Throws for an invalid event. */
export function createHandler(deps: AnalyzeFunctionDeps) {
  return (event: unknown, context: Context): Promise<unknown> =>
    deps.during(context, async () => {
      const input = eventSchema.parse(event);
      switch (input.operation) {
        case 'judge':
        case 'answer':
        case 'summarize':
          return toOutcome(() => handleAnalyzeCall(input, deps));
        case 'analyze':
          if (isLate(input, deps.now())) deps.measurements.add('LateTicks');
          return analyzeTask(input, deps);
        case 'begin':
        case 'close':
          return analyzeTask(input, deps);
      }
    });
}

/** Returns true if the tick began much later than planned: throttled functions or state transitions, or a failed burst. */
function isLate(
  { planned_at: plannedAt }: Extract<AnalyzeInput, { operation: 'analyze' }>,
  now: Date,
): boolean {
  return plannedAt !== undefined && ageSeconds(plannedAt, now) > rules.lateTickSeconds;
}

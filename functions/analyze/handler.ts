import type { Context } from 'aws-lambda';
import { z } from 'zod';
import { analyzeCallSchema, handleAnalyzeCall } from '../../adapters/aws/invoke/analyze-calls.ts';
import { toOutcome } from '../../adapters/aws/invoke/outcome.ts';
import { cutBurstSchema } from '../../core/records/workflow.ts';
import { heldSeconds, shortenBurst, withNextBurst } from '../../core/workflow/burst.ts';
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
          return analyzeTick(input, deps);
        case 'begin':
          return begin(input, deps);
        case 'close':
          return analyzeTask(input, deps);
      }
    });
}

type Input<Operation> = Extract<AnalyzeInput, { operation: Operation }>;

/** Runs a tick. It ends its burst earlier if the service has cut bursts of the deployment. */
async function analyzeTick(input: Input<'analyze'>, deps: AnalyzeFunctionDeps): Promise<unknown> {
  if (input.burst === undefined) return analyzeTask(input, deps);
  const cuts = await deps.burstCuts.read();
  const state = await analyzeTask(shortenBurst(input, cuts, deps.now()), deps);
  return 'burst' in state ? withNextBurst(state, deps.now()) : state;
}

/** Begins the ticks of an execution. Stores how long the service held the burst before, if it cut that. */
async function begin(input: Input<'begin'>, deps: AnalyzeFunctionDeps): Promise<unknown> {
  const state = await analyzeTask(input, deps);
  const cut = cutBurstSchema.safeParse(input.failure);
  const held = cut.success ? heldSeconds(cut.data) : undefined;
  // After the task, because Step Functions repeats a failed Begin: a cut counts once.
  if (held !== undefined) await noteCut(held, deps);
  return 'burst' in state ? withNextBurst(state, deps.now()) : state;
}

async function noteCut(seconds: number, deps: AnalyzeFunctionDeps): Promise<void> {
  deps.measurements.add('BurstsCut');
  deps.log.warning('The service cut a burst; cuts shorten the next ones', { held_seconds: seconds });
  // A cut that is not stored is followed by another.
  await deps.burstCuts.add(seconds).catch((error: unknown) => {
    deps.log.warning('A cut burst could not be stored', { error: String(error) });
  });
}

/** Returns true if the tick began much later than planned: throttled functions or state transitions, or a failed burst. */
function isLate({ planned_at: plannedAt }: Input<'analyze'>, now: Date): boolean {
  return plannedAt !== undefined && ageSeconds(plannedAt, now) > rules.lateTickSeconds;
}

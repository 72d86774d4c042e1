import type { Context } from 'aws-lambda';
import { z } from 'zod';
import { analyzeCallSchema, handleAnalyzeCall } from '../../adapters/aws/invoke/analyze-calls.ts';
import { createExecutionState, type ExecutionState } from '../../adapters/aws/execution-state.ts';
import { toOutcome } from '../../adapters/aws/invoke/outcome.ts';
import type { RunChange } from '../../core/ports/runs.ts';
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
  const execution = createExecutionState(deps);
  return (event: unknown, context: Context): Promise<unknown> =>
    deps.during(context, async () => {
      const { complete, outputKey } = await execution.complete(event, deps.now());
      const input = eventSchema.parse(complete);
      switch (input.operation) {
        case 'judge':
        case 'answer':
        case 'words':
        case 'matches':
        case 'answer_about':
        case 'summarize':
          return toOutcome(() => handleAnalyzeCall(input, deps));
        case 'analyze':
          if (isLate(input, deps.now())) deps.measurements.add('LateTicks');
          return execution.detach(await analyzeTick(input, deps, execution), [
            input.capture.motion,
            outputKey,
          ]);
        case 'begin':
          return execution.detach(await begin(input, deps));
        case 'close':
          return analyzeTask(input, deps);
      }
    });
}

type TaskResult = Awaited<ReturnType<typeof analyzeTask>>;
type Input<Operation> = Extract<AnalyzeInput, { operation: Operation }>;

/** Runs a tick. It ends its burst earlier if the service has cut bursts of the deployment. */
async function analyzeTick(
  input: Input<'analyze'>,
  { runs, ...deps }: AnalyzeFunctionDeps,
  execution: ExecutionState,
): Promise<TaskResult> {
  const detached = {
    ...deps,
    runs: {
      ...runs,
      commit: async (change: RunChange) => runs.commit(await execution.detachChange(change, input.capture)),
    },
  };
  if (input.burst === undefined) return analyzeTask(input, detached);
  const cuts = await deps.burstCuts.read();
  const state = await analyzeTask(shortenBurst(input, cuts, deps.now()), detached);
  return 'burst' in state ? withNextBurst(state, deps.now()) : state;
}

/** Begins the ticks of an execution. Stores how long the service held the burst before, if it cut that. */
async function begin(input: Input<'begin'>, deps: AnalyzeFunctionDeps): Promise<TaskResult> {
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

/**
 * Returns true if the tick began much later than planned: throttled functions or state transitions, or a failed burst.
 */
function isLate({ planned_at: plannedAt }: Input<'analyze'>, now: Date): boolean {
  return plannedAt !== undefined && ageSeconds(plannedAt, now) > rules.lateTickSeconds;
}

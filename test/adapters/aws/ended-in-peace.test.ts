import { beforeEach, expect, test } from 'vitest';
import { createBurstDefinition } from '../../../adapters/aws/bursts.ts';
import { eraseCaller } from '../../../core/access/callers.ts';
import { operator } from '../../../core/access/keys.ts';
import { createMonitor } from '../../support/create-jobs.ts';
import { deleteStoredWatch } from '../../../core/watch/control-watch.ts';
import { analyzeTask, captureTask } from '../../../core/workflow/tasks.ts';
import bursts from '../../../lib/workflow/bursts.asl.json' with { type: 'json' };
import definition from '../../../lib/workflow/run.asl.json' with { type: 'json' };
import { newCreation } from '../../contract/watch-records.ts';
import { type ExecutionError, StateMachine } from '../../step-functions/interpreter.ts';
import { createWorld, monitorRequest, type World } from '../../support/world.ts';

/**
 * Definitions for Step Functions with the tasks of core: a burst continues while its watch is deleted or its caller is
 * erased.
 */

let world: World;
let captured: string[];
beforeEach(() => {
  world = createWorld();
  captured = [];
});

/** Runs a definition and returns the states that it entered, and its end. */
async function run(
  definition: object,
  input: object,
  handlers: Record<string, (given: any) => Promise<object>>,
) {
  const execution = new StateMachine(structuredClone(definition)).run(input, {
    overrides: {
      taskResourceLocalHandlers: handlers,
      waitTimeOverrides: { Pause: 0, Rest: 0, 'Back off': 0 },
      retryIntervalOverrides: { Begin: 0, Close: 0, Capture: 0, Analyze: 0 },
    },
  });
  const entered: string[] = [];
  const end: Promise<{ status: string; output?: unknown }> = execution.result.then(
    (output) => ({ status: 'SUCCEEDED', output }),
    (failure: ExecutionError) => ({ status: `FAILED ${String(failure.cause)}` }),
  );
  for await (const event of execution.eventLogs)
    if (event.type === 'StateEntered') entered.push(event.state.name);
  return { entered, ...(await end) };
}

/** Runs the ticks of a job or watch as on AWS, with `meanwhile` before the capture of the second tick. */
async function runTicks(id: string, inBursts: boolean, meanwhile: () => Promise<unknown>) {
  const tick = {
    Capture: async (given: unknown) => {
      world.advance(10);
      if (captured.length === 1) await meanwhile();
      const capture = await captureTask(given, world.c);
      captured.push(capture.kind);
      return capture;
    },
    Analyze: async (given: unknown) => analyzeTask(given, world.c),
  };
  const begin = { Begin: async (given: unknown) => analyzeTask(given, world.c), Close: failOnClose };
  const input = { run_id: id, generation: 0 };
  if (!inBursts) return run(definition, input, { ...begin, ...tick });
  const burst = createBurstDefinition(definition, 240);
  return run(bursts, input, {
    ...begin,
    Burst: async ({ Input: text }) => {
      const { status, output } = await run(burst, JSON.parse(text), tick);
      return { Status: status, Output: JSON.stringify(output), ExecutionArn: 'arn:burst' };
    },
  });
}

async function failOnClose(): Promise<never> {
  throw new Error('The execution was closed as failed');
}

async function createWatch() {
  const creation = newCreation();
  const config = { ...creation.config, schedule: null, budget: null, regions: null };
  await world.c.watches.create({ ...creation, config }, world.clock.now);
  return creation;
}

test.each([true, false])(
  'a watch that is deleted during a burst ends without a failure, in bursts: %s',
  async (inBursts) => {
    const { run_id: id, caller } = await createWatch();

    const { status, entered } = await runTicks(id, inBursts, () => deleteStoredWatch(id, caller, world.c));

    expect(status).toBe('SUCCEEDED');
    expect(captured).toEqual(['captured', 'failed']);
    expect(entered.filter((name) => ['Describe', 'Count', 'Begin', 'Close'].includes(name))).toEqual([
      'Begin',
    ]);
    expect(entered.at(-1)).toBe('Finished');
  },
);

test.each([true, false])(
  'a job whose caller is erased during a burst ends without a failure, in bursts: %s',
  async (inBursts) => {
    const { run_id: id } = await createMonitor(monitorRequest(), 'harbour', world.c);

    const { status, entered } = await runTicks(id, inBursts, () => eraseCaller(operator, 'harbour', world.c));

    expect(status).toBe('SUCCEEDED');
    expect(captured).toEqual(['captured', 'failed']);
    expect(entered.filter((name) => ['Describe', 'Count', 'Begin', 'Close'].includes(name))).toEqual([
      'Begin',
    ]);
    expect(entered.at(-1)).toBe('Finished');
  },
);

test('an execution that begins after its watch was deleted ends without a tick', async () => {
  const { run_id: id, caller } = await createWatch();
  await deleteStoredWatch(id, caller, world.c);

  const { status, entered } = await runTicks(id, true, async () => undefined);

  expect(status).toBe('SUCCEEDED');
  expect(entered).toEqual(['Start', 'Begin', 'Over?', 'Finished']);
});

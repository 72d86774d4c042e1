import { beforeEach, describe, expect, test } from 'vitest';
import { createBurstDefinition } from '../../adapters/aws/bursts.ts';
import { eraseCaller } from '../../core/access/callers.ts';
import { operator } from '../../core/access/keys.ts';
import { StreamFetchError } from '../../core/errors.ts';
import type { ExecutionInput } from '../../core/records/workflow.ts';
import { createHandler as createAnalyze } from '../../functions/analyze/handler.ts';
import { createHandler as createCapture } from '../../functions/capture/handler.ts';
import bursts from '../../lib/workflow/bursts.asl.json' with { type: 'json' };
import run from '../../lib/workflow/run.asl.json' with { type: 'json' };
import { StateMachine } from '../step-functions/interpreter.ts';
import { createMonitor } from '../support/create-jobs.ts';
import { findForeignValues } from '../support/execution-values.ts';
import { createWorld, monitorRequest, type World } from '../support/world.ts';
import { during, lambdaContext } from './lambda-context.ts';

/** Execution of a machine, with what it and its states received and returned. */
type History = { machine: 'bursts' | 'burst' | 'run'; values: { where: string; value: unknown }[] };
type Machine = History['machine'];

const definitions = { bursts, burst: createBurstDefinition(run, 240), run };
/** Motion reference as the real comparison makes them, of another length. */
const picture = `3.${'Zm9vYmFy+/'.repeat(1000)}`;

let world: World;
let histories: History[];
/** True if S3 refuses motion references, as it does if they are gone. */
let isLost = false;
beforeEach(() => {
  world = createWorld({ maxJobSeconds: 1200 });
  histories = [];
  isLost = false;
  world.c.compareMotion = (_, state) => {
    compared.push(state);
    return {
      moved: true,
      changedShare: 0.1,
      black: false,
      identicalToPrevious: false,
      stateWithNewReference: `${picture}${compared.length}`,
      stateWithSameReference: `${picture}${compared.length}`,
      earlier: [],
    };
  };
  compared.length = 0;
});

/** Motion references that captures were compared with. */
const compared: (string | null)[] = [];
const json = (value: unknown) => JSON.parse(JSON.stringify(value));

/** Runs an execution of a machine to its end, with the functions of the stack. */
async function execute(machine: Machine, input: unknown): Promise<unknown> {
  const history: History = { machine, values: [{ where: 'input', value: input }] };
  histories.push(history);
  const media: typeof world.c.media = {
    ...world.c.media,
    get: async (key) =>
      isLost && key.includes('/motion-') ? Promise.reject(new Error('AccessDenied')) : world.c.media.get(key),
  };
  const measurements = { add: () => undefined };
  const burstCuts = { read: async () => undefined, add: async () => undefined };
  const analyze = createAnalyze({ ...world.c, media, during, measurements, burstCuts });
  const resizeJpeg = async (jpeg: Uint8Array) => jpeg;
  const makeClip = async () => ({ kind: 'none', reason: '' }) as const;
  const capture = createCapture({ ...world.c, media, resizeJpeg, makeClip, during });
  const task =
    (handle: (event: unknown, context: ReturnType<typeof lambdaContext>) => Promise<unknown>) =>
    async (given: unknown) =>
      json(await handle(json(given), lambdaContext()));
  const startedAt = world.clock.now.toISOString();
  const execution = new StateMachine(json(definitions[machine])).run(json(input), {
    context: { Execution: { StartTime: startedAt }, State: { EnteredTime: startedAt } },
    overrides: {
      taskResourceLocalHandlers: {
        Begin: task(analyze),
        Analyze: task(analyze),
        Close: task(analyze),
        Capture: task(capture),
        Burst: async (given: any) => {
          const child = JSON.parse(given.Input);
          if (child.wait_until > world.clock.now.toISOString()) world.clock.now = new Date(child.wait_until);
          const output = await execute('burst', child);
          return { Status: 'SUCCEEDED', Output: JSON.stringify(output), ExecutionArn: 'arn:burst' };
        },
      },
      waitTimeOverrides: { Pause: 0, Rest: 0, 'Back off': 0 },
    },
  });
  for await (const event of execution.eventLogs) {
    if (event.type === 'StateEntered') {
      const { name, input: given } = event.state;
      if (name === 'Pause')
        world.clock.now = new Date(Math.max(+world.clock.now, Date.parse(given.wait_until)));
      history.values.push({ where: `${name} receives`, value: given });
    } else if (event.type === 'StateExited')
      history.values.push({ where: `${event.state.name} returns`, value: event.state.output });
  }
  const output = await execution.result;
  history.values.push({ where: 'output', value: output });
  return output;
}

/** Runs all generations of a job. */
async function runAll(machine: 'bursts' | 'run', jobId: string): Promise<void> {
  for (let generation = 0; ; generation += 1) {
    const input: ExecutionInput = { run_id: jobId, generation };
    if (!world.executions.has(`${jobId}-${generation}`)) return;
    await execute(machine, input);
  }
}

/** Returns what Step Functions keeps: of an Express execution, what its parent gives and receives. */
function keptValues() {
  return histories.flatMap(({ machine, values }) =>
    machine === 'burst' ? values.filter(({ where }) => where === 'input' || where === 'output') : values,
  );
}

describe.each(['bursts', 'run'] as const)('an execution of %s', (machine) => {
  const start = async (fields: object = {}) => {
    const request = monitorRequest({ interval_seconds: 10, max_triggers: 1, ...fields });
    const { run_id: id } = await createMonitor(request, 'harbour', world.c);
    return id;
  };

  test('its history has ids, times and numbers only, in every generation, and nothing remains of a reference', async () => {
    const jobId = await start();
    world.script.captures.push({}, new StreamFetchError('Check the camera at https://cam.example/secret.'));
    world.script.verdicts.push(...Array.from({ length: 64 }, () => false), true);
    await runAll(machine, jobId);

    const job = await world.c.jobs.getIncludingEnded(jobId);
    expect(job).toMatchObject({ generation: 1, handed_over: null, ended_at: expect.any(String) });
    const foreign = keptValues().flatMap(({ where, value }) =>
      findForeignValues(value).map((found) => `${where}: ${found}`),
    );
    expect(foreign).toEqual([]);
    expect([...world.pictures.keys()].filter((key) => !key.endsWith('.jpg'))).toEqual([]);
    // Each picture is compared with the one before, through bursts and generations.
    expect(compared.length).toBeGreaterThan(59);
    expect(compared.map((state) => state?.slice(picture.length) ?? null)).toEqual([
      null,
      ...Array.from({ length: compared.length - 1 }, (_, index) => String(index + 1)),
    ]);
  });

  test('the record of a run has no picture either', async () => {
    const commits: unknown[] = [];
    const { commit } = world.c.runs;
    world.c.runs = {
      ...world.c.runs,
      commit: async (change) => {
        commits.push(change.set.handed_over ?? null);
        return commit(change);
      },
    };
    const jobId = await start();
    world.script.verdicts.push(...Array.from({ length: 64 }, () => false), true);
    await runAll(machine, jobId);

    expect(commits.filter((motion) => motion !== null)).toHaveLength(1);
    expect(findForeignValues(commits)).toEqual([]);
  });

  test('an erasure in the middle of a run leaves neither a reference nor a trace of it', async () => {
    const jobId = await start();
    const { capture } = world.c.streams;
    let taken = 0;
    world.c.streams = {
      ...world.c.streams,
      capture: async (...given) => {
        taken += 1;
        if (taken === 5) await eraseCaller(operator, 'harbour', world.c);
        return capture(...given);
      },
    };
    await runAll(machine, jobId);

    expect(await world.c.jobs.getIncludingEnded(jobId)).toBeUndefined();
    expect([...world.pictures.keys()]).toEqual([]);
    expect(keptValues().flatMap(({ value }) => findForeignValues(value))).toEqual([]);
  });

  test('a reference that cannot be read costs one more check', async () => {
    const jobId = await start();
    world.script.verdicts.push(false, false, true);
    isLost = true;
    await runAll(machine, jobId);
    expect(await world.c.jobs.getIncludingEnded(jobId)).toMatchObject({ status: 'completed' });
    if (machine === 'run') expect(compared).toEqual([null, null, null]);
  });
});

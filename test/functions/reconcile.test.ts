import { embeddedRuns } from '../support/select-runs.ts';
import { randomUUID } from 'node:crypto';
import { beforeEach, describe, expect, test } from 'vitest';
import { createUsageLedger } from '../../adapters/embedded/callers/usage.ts';
import { useListedStatus } from '../../adapters/aws/sweep-executions.ts';
import { shardFor } from '../../adapters/aws/dynamodb/table/keys.ts';
import { newCaller, noUse } from '../../core/records/caller.ts';
import { createMonitor } from '../support/create-jobs.ts';
import { createHandler } from '../../functions/reconcile/handler.ts';
import type { FanOutDeps } from '../../functions/reconcile/fan-out.ts';
import { createWorld, monitorRequest, type World } from '../support/world.ts';
import { newCreation } from '../contract/watch-records.ts';
import { destination } from '../support/watches/watch-records.ts';
import { initialSight } from '../../core/records/sight.ts';
import { failingModel } from '../support/trouble.ts';
import { during, lambdaContext } from './lambda-context.ts';

let world: World;
beforeEach(() => {
  world = createWorld();
});

const handle = (event: unknown, remainingMs?: number) =>
  createHandler({
    ...world.c,
    watches: embeddedRuns(world.database).watches,
    during,
    measurements: {
      add: (name, value, caller) =>
        void measured.push(caller === undefined ? [name, value] : [name, value, caller]),
    },
    countEventStreams: async () => 7,
    maxCallerMetrics: 2,
    ...fanOutDeps,
  })(event, lambdaContext(remainingMs));
const measured: unknown[] = [];

/** Entries of the repair index by shard, and what the fan-out sends. */
const index = new Map<string, string[]>();
const fewDue: typeof index = new Map([['0', ['one']]]);
const invoked: { arn: string; payload: any }[] = [];
let running: string[] | undefined = [];
let usedLists: (ReadonlySet<string> | null)[] = [];
const fanOutDeps: FanOutDeps = {
  repairShards: {
    countDue: async () =>
      [...(index.size === 0 ? fewDue : index)].map(([shard, ids]) => ({ shard, entries: ids.length })),
    listDue: async (shard) => index.get(shard) ?? [],
  },
  listRunning: async () => running,
  invokeLater: async (arn, payload) => void invoked.push({ arn, payload }),
  createShardExecutions: (list) => {
    usedLists.push(list);
    return list === null ? world.c.executions : useListedStatus(world.c.executions, list);
  },
};
beforeEach(() => {
  index.clear();
  invoked.length = 0;
  usedLists = [];
  running = [];
});

/** Events of EventBridge: every minute, and when the status of an execution changes. */
const eachMinute = { version: '0', 'detail-type': 'Scheduled Event', source: 'aws.events', detail: {} };
const ended = (jobId: string, generation: number, status: string) => ({
  version: '0',
  'detail-type': 'Step Functions Execution Status Change',
  source: 'aws.states',
  detail: {
    executionArn: `arn:aws:states:eu-west-1:123456789012:execution:watchpost:${jobId}-${generation}`,
    stateMachineArn: 'arn:aws:states:eu-west-1:123456789012:stateMachine:watchpost',
    name: `${jobId}-${generation}`,
    status,
    input: null,
    output: null,
  },
});
const readStatus = async (jobId: string) => (await world.c.jobs.getIncludingEnded(jobId))?.status;

async function startRunning() {
  const { run_id } = await createMonitor(monitorRequest(), 'harbour', world.c);
  await world.begin({ run_id, generation: 0 });
  return run_id;
}

test('the run of each minute reports the open event streams', async () => {
  measured.length = 0;
  await handle(eachMinute);
  expect(measured).toContainEqual(['OpenEventStreams', 7]);
});

test('a run every five minutes reports tokens and cost of today of the callers with the highest cost, and of the others', async () => {
  world.clock.now = new Date('2026-03-01T12:05:00.000Z');
  const ledger = createUsageLedger(world.database);
  const use = { ...noUse, model_calls: 1, input_tokens: 90, output_tokens: 10 };
  for (const [caller, micro_usd] of [
    ['cheap', 1000],
    ['dear', 9000],
    ['middle', 5000],
    ['small', 2000],
  ] as const) {
    await world.c.callers.add(newCaller(caller, null, world.clock.now));
    await ledger.add(caller, '2026-03-01', { ...use, micro_usd });
    await ledger.add(caller, '2026-02-28', { ...use, micro_usd: 1_000_000 });
  }
  measured.length = 0;

  await handle(eachMinute);

  expect(measured.filter((each) => (each as unknown[]).length === 3)).toEqual([
    ['TokensToday', 100, 'dear'],
    ['CostUsdToday', 0.009, 'dear'],
    ['TokensToday', 100, 'middle'],
    ['CostUsdToday', 0.005, 'middle'],
    ['TokensToday', 200, '(others)'],
    ['CostUsdToday', 0.003, '(others)'],
  ]);

  world.clock.now = new Date('2026-03-01T12:06:00.000Z');
  measured.length = 0;
  await handle(eachMinute);
  expect(measured.filter((each) => (each as unknown[]).length === 3)).toEqual([]);
});

test('a run every five minutes counts watches that are blind, late and unheard', async () => {
  const watches = embeddedRuns(world.database).watches;
  const failing = [{ destination_id: 'team', since: world.clock.now.toISOString(), error: '404' }];
  const trouble = [
    { status: 'stream_lost' as const },
    { health: { late_since: world.clock.now.toISOString(), failing: [] } },
    { health: { late_since: null, failing } },
    { sight: { ...initialSight, model_trouble: failingModel(5) } },
  ];
  for (const { status = 'active' as const, sight = initialSight, ...fields } of trouble) {
    const creation = newCreation();
    const state = { ...creation.state, ...fields };
    await watches.create({ ...creation, status, sight, state }, world.clock.now);
  }
  for (let minute = 0; minute < 5; minute += 1) {
    measured.length = 0;
    await handle(eachMinute);
    const found = Object.fromEntries(measured as [string, number][]);
    const isMeasured = world.clock.now.getUTCMinutes() % 5 === 0;
    const expected = { WatchesBlind: 1, WatchesLate: 2, WatchesUnheard: 1 };
    expect(found).toEqual({ OpenEventStreams: 7, ...(isMeasured && expected) });
    world.advance(60);
  }
});

test('the run of each minute publishes events of watches that are not in the queue', async () => {
  const watches = embeddedRuns(world.database).watches;
  const creation = newCreation();
  creation.config.destinations = [{ ...destination, notify: 'everything' }];
  await watches.create(creation, world.clock.now);
  await handle(eachMinute);
  const { run_id: watch_id } = creation;
  expect(world.queuedForDestinations).toEqual([
    {
      run: 'watch',
      run_id: watch_id,
      sequence: 1,
      destination_id: 'team',
      subject: 'watch',
      resend: 0,
      attempt: 0,
    },
  ]);
});

describe('reconcile: ended execution', () => {
  test('reconcile fails the job of an ended execution once, even if the event is repeated', async () => {
    const jobId = await startRunning();
    world.executions.set(`${jobId}-0`, 'aborted');

    await handle(ended(jobId, 0, 'ABORTED'));
    await handle(ended(jobId, 0, 'ABORTED'));

    expect(await readStatus(jobId)).toBe('failed');
    expect(await world.c.jobs.newestEvents(jobId, 'job_stopped', 10)).toHaveLength(1);
  });

  test('reconcile ignores other state machines and deleted jobs', async () => {
    await handle(ended('0c4c1c5e-7a53-4f2c-9b3f-1f0a5ad1e001', 0, 'FAILED'));
    await handle({ ...ended('x', 0, 'FAILED'), detail: { name: 'nightly-report', status: 'FAILED' } });

    expect(world.logged).toEqual([]);
  });

  test('reconcile throws if a repair fails, so that Lambda retries', async () => {
    const jobId = await startRunning();
    world.c.runs.get = async () => Promise.reject(new Error('throttled'));

    await expect(handle(ended(jobId, 0, 'FAILED'))).rejects.toThrow('throttled');
  });
});

describe('reconcile: schedule', () => {
  test('reconcile starts missing executions', async () => {
    const { run_id: jobId } = await createMonitor(monitorRequest(), 'harbour', world.c);
    world.executions.clear();
    world.advance(90);

    await handle(eachMinute);

    expect(world.executions.get(`${jobId}-0`)).toBe('running');
    expect(await readStatus(jobId)).toBe('pending');
  });

  test('reconcile starts no repair if too little time remains', async () => {
    const { run_id: jobId } = await createMonitor(monitorRequest(), 'harbour', world.c);
    world.executions.clear();
    world.advance(90);

    await handle(eachMinute, 19_000);

    expect(world.executions.size).toBe(0);
    expect(await readStatus(jobId)).toBe('pending');
  });

  test('reconcile throws for an unknown event', async () => {
    await expect(handle({ 'detail-type': 'Something else' })).rejects.toThrow();
  });
});

describe('reconcile: fan-out', () => {
  const many = (count: number) => Array.from({ length: count }, () => randomUUID());

  test('a run with more due entries than it repairs in time invokes itself once for each shard that has some', async () => {
    const [one = ''] = many(1);
    index.set(shardFor(one), [one, ...many(150)]);
    index.set('none', []);
    const second = shardFor(one) === '0' ? '1' : '0';
    index.set(second, many(60));
    running = [`${one}-3`, 'nightly-report'];

    await handle(eachMinute);

    expect(invoked).toEqual([
      { arn: lambdaContext().invokedFunctionArn, payload: { shard: shardFor(one), running: [`${one}-3`] } },
      { arn: lambdaContext().invokedFunctionArn, payload: { shard: second, running: [] } },
    ]);
  });

  test('a run with few due entries invokes nothing', async () => {
    index.set('3', many(200));
    await handle(eachMinute);
    expect(invoked).toEqual([]);
  });

  test('a run without due entries reads no records', async () => {
    index.set('3', []);
    world.c.runs.dueForRepair = () => Promise.reject(new Error('The jobs were read'));
    await handle(eachMinute);
    expect(measured).toContainEqual(['OpenEventStreams', 7]);
  });

  test('an invocation for a shard repairs its jobs and invokes nothing, however many are due', async () => {
    const lost = await startRunning();
    world.advance(700);
    world.executions.set(`${lost}-0`, 'aborted');
    index.set('3', [lost, ...many(600)]);

    await handle({ shard: '3', running: [] });

    expect(await readStatus(lost)).toBe('failed');
    expect(invoked).toEqual([]);
    expect(usedLists).toEqual([new Set()]);
  });

  test('an invocation for a shard requests each status if the executions could not be listed', async () => {
    const jobId = await startRunning();
    index.set('3', [jobId]);
    await handle({ shard: '3', running: null });
    expect(usedLists).toEqual([null]);
    expect(await readStatus(jobId)).toBe('running');
  });

  test('a shard beyond the index is an unknown event', async () => {
    await expect(handle({ shard: '16', running: [] })).rejects.toThrow();
  });

  test('a run repairs what it can if it cannot invoke itself', async () => {
    const { run_id: jobId } = await createMonitor(monitorRequest(), 'harbour', world.c);
    world.executions.clear();
    world.advance(90);
    index.set('3', many(300));
    const { invokeLater } = fanOutDeps;
    fanOutDeps.invokeLater = () => Promise.reject(new Error('AccessDeniedException'));
    await handle(eachMinute).finally(() => (fanOutDeps.invokeLater = invokeLater));
    expect(world.executions.get(`${jobId}-0`)).toBe('running');
  });
});

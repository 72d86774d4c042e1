import type { Context } from 'aws-lambda';
import { shardFor, shards } from '../../adapters/aws/dynamodb/keys.ts';
import { createJobStore } from '../../adapters/embedded/job-store.ts';
import { openDatabase } from '../../adapters/embedded/database.ts';
import { createDeliveryStore } from '../../adapters/embedded/delivery-store.ts';
import { createWatchStore } from '../../adapters/embedded/watch-store.ts';
import { useListedStatus } from '../../adapters/aws/listed-executions.ts';
import { paceStarts } from '../../adapters/aws/paced-executions.ts';
import { TransientError } from '../../core/errors.ts';
import { repairJobs } from '../../core/workflow/repair-jobs.ts';
import type { Executions } from '../../core/ports/executions.ts';
import { executionName } from '../../core/records/workflow.ts';
import { repairWatches } from '../../core/workflow/repair-watches.ts';
import { startPace } from '../../functions/reconcile/fan-out.ts';
import { createHandler } from '../../functions/reconcile/handler.ts';
import { after, createCreation, newJob, start } from '../../test/contract/records.ts';
import { newCreation } from '../../test/contract/watch-records.ts';
import { VirtualTime } from '../../test/simulation/virtual-time.ts';
import { buckets } from './quotas.ts';

/** State in which the fault left each job or watch. */
export type Aftermath = 'jobs ended' | 'jobs missing' | 'jobs running' | 'watches ended';

export type RepairScenario = {
  count: number;
  aftermath: Aftermath;
  region: 'default' | 'large';
  /** Concurrent executions of Lambda that are left for `reconcile`. */
  concurrency: number;
  /** `reconcile` of the release before: 500 jobs per run, one after the other, each with its status. */
  before?: boolean;
};

export type RepairResult = {
  /** Time from the end of the fault to the last repair, with the wait for the run of the minute. */
  seconds: number;
  starts: number;
  throttled: number;
  invocations: number;
  maxConcurrency: number;
};

/**
 * Durations in milliseconds. Requests: usual latencies within a region. Processor time of a request: sampled (`npm run bench -- aws-load`), on a
 * core of 1,769 MB. Cold start: import of `reconcile` (docs/contribute/benchmarks.md) by its share of a core, and the start of an instance.
 */
export const durations = {
  readMs: 5,
  writeMs: 12,
  stepFunctionsMs: 40,
  queueMs: 15,
  invokeMs: 50,
  coldStartMs: 900,
  cpuPerRequestMs: 1.5,
} as const;
/** Share of a core of a function with 512 MB (docs.aws.amazon.com/lambda/latest/dg/configuration-memory.html: 1,769 MB are one). */
const coreShare = 512 / 1769;
const timeoutMs = 55_000;
/** The first run of `reconcile` after the fault: nearly a minute, the worst case. */
const firstRunMs = 59_000;
const maxHours = 2;
const world = { isDead: false };

/** Repairs a deployment after a fault in virtual time: the handler of `reconcile` and the core, with quotas, latencies and processor time. */
export async function simulateRepair(scenario: RepairScenario): Promise<RepairResult> {
  const time = new VirtualTime(start.getTime());
  const database = openDatabase(':memory:');
  database.exec('PRAGMA synchronous = OFF');
  const jobs = createJobStore(database);
  const watches = createWatchStore(database);
  const deliveries = createDeliveryStore(database);
  const steps = createStepFunctions(time, scenario.region);
  const hasWatches = scenario.aftermath === 'watches ended';
  await createWork(scenario, jobs, watches, steps.states);
  const result = { starts: 0, throttled: 0, invocations: 0, maxConcurrency: 0 };
  const waiting: (() => void)[] = [];
  let active = 0;
  let failure: unknown;
  for (let minute = 0; minute < maxHours * 60; minute += 1)
    time.createTimers(world)(
      () => invoke({ 'detail-type': 'Scheduled Event' }),
      firstRunMs + minute * 60_000,
    );

  let seconds = 0;
  while ((await countLeft()) > 0) {
    seconds += 1;
    if (seconds > maxHours * 3600) throw new Error('The work is not repaired after two hours');
    await time.runUntil(start.getTime() + seconds * 1000, () => {
      if (failure !== undefined) throw failure;
    });
  }
  database.close();
  return { seconds, ...result, starts: steps.counts.starts, throttled: steps.counts.throttled };

  /** Counts jobs and watches whose lease has expired: a repair ends the job, or extends the lease. */
  async function countLeft(): Promise<number> {
    const now = time.now();
    return (await jobs.dueForRepair(now, 1)).length + (await watches.dueForRepair(now, 1)).length;
  }

  function invoke(event: object): void {
    run(event).catch((error: unknown) => (failure ??= error));
  }

  async function run(event: object): Promise<void> {
    if (active >= scenario.concurrency) await new Promise<void>((resolve) => waiting.push(resolve));
    active += 1;
    result.invocations += 1;
    result.maxConcurrency = Math.max(result.maxConcurrency, active);
    try {
      await time.wait(world, durations.coldStartMs);
      await runFunction(event);
    } finally {
      active -= 1;
      waiting.shift()?.();
    }
  }

  async function runFunction(event: object): Promise<void> {
    const endMs = time.nowMs + timeoutMs;
    const cpu = createProcessor(time);
    const { now } = time;
    const silent = () => undefined;
    const executions: Executions = {
      start: (input) => steps.start(input, cpu),
      stop: async () => undefined,
      status: (input) => steps.status(input, cpu),
      runsHere: () => false,
    };
    const deps = {
      jobs: withCosts(jobs, cpu),
      watches: withCosts(watches, cpu),
      deliveries,
      queue: { send: async () => cpu.request(durations.queueMs) },
      executions,
      log: { debug: silent, info: silent, warning: silent, error: silent },
      now,
      limits: { retentionSeconds: 3600 },
    };
    if (scenario.before) {
      const endBy = new Date(endMs - 20_000);
      await repairJobs(deps, { dueBy: now(), limit: 500, endBy });
      await repairWatches(deps, { dueBy: now(), limit: 500, endBy });
      return;
    }
    const handle = createHandler({
      ...deps,
      callers: { list: async () => [] },
      usage: { days: async () => [] },
      maxCallerMetrics: 0,
      addServed: async () => undefined,
      measurements: { add: silent },
      during: async (_context, work) => work(),
      countEventStreams: async () => 0,
      repairShards: {
        countDue: async (at: Date, limit: number) => {
          await cpu.request(durations.readMs, 2 * shards.length);
          return Promise.all(
            shards.map(async (shard) => ({ shard, entries: (await listDue(shard, at, limit)).length })),
          );
        },
        listDue: async (shard: string, at: Date, limit: number) => {
          await cpu.request(durations.readMs, 2);
          const due = await listDue(shard, at, limit);
          return hasWatches ? { jobIds: [], watchIds: due } : { jobIds: due, watchIds: [] };
        },
      },
      listRunning: () => steps.list(cpu),
      invokeLater: async (_: string, payload: object) => {
        await cpu.request(durations.invokeMs);
        invoke(structuredClone(payload));
      },
      createShardExecutions: (running: ReadonlySet<string> | null) => {
        const pace = {
          ...startPace,
          elapsedMs: () => time.nowMs,
          sleep: (milliseconds: number) => time.wait(world, milliseconds),
        };
        const paced = paceStarts(executions, pace);
        return running === null ? paced : useListedStatus(paced, running);
      },
    });
    const context = {
      invokedFunctionArn: 'arn:aws:lambda:eu-west-1:123456789012:function:reconcile:live',
      getRemainingTimeInMillis: () => endMs - time.nowMs,
    };
    await handle(event, context as Context);
  }

  async function listDue(shard: string, at: Date, limit: number): Promise<string[]> {
    const store = hasWatches ? watches : jobs;
    const due = await store.dueForRepair(at, Number.MAX_SAFE_INTEGER);
    return due.filter((id) => shardFor(id) === shard).slice(0, limit);
  }
}

/** Creates jobs or watches as the fault left them: their leases end within the last interval of it. */
async function createWork(
  { count, aftermath }: RepairScenario,
  jobs: ReturnType<typeof createJobStore>,
  watches: ReturnType<typeof createWatchStore>,
  states: Map<string, 'running' | 'ended'>,
): Promise<void> {
  const state = aftermath.endsWith('ended') ? 'ended' : aftermath === 'jobs running' ? 'running' : undefined;
  for (let index = 0; index < count; index += 1) {
    const lease_until = after(-10 * (index / count) - 0.001).toISOString();
    const caller = `caller-${Math.floor(index / 10)}`;
    let id: string;
    if (aftermath === 'watches ended') {
      const creation = newCreation({ caller });
      await watches.create({ ...creation, lease_until, published: 1 }, start);
      id = creation.run_id;
    } else {
      const hasBegun = aftermath !== 'jobs missing';
      const job = newJob({
        caller,
        lease_until,
        ...(hasBegun && { status: 'running', started_at: after(-700).toISOString() }),
      });
      await jobs.create(createCreation(job), start);
      id = job.run_id;
    }
    if (state !== undefined) states.set(executionName({ job_id: id, generation: 0 }), state);
  }
}

/** Processor of one invocation: its requests wait concurrently, but take its time one after the other. */
type Processor = { request: (latencyMs: number, count?: number) => Promise<void> };

function createProcessor(time: VirtualTime): Processor {
  let freeAtMs = time.nowMs;
  return {
    request: async (latencyMs, count = 1) => {
      freeAtMs = Math.max(freeAtMs, time.nowMs) + (count * durations.cpuPerRequestMs) / coreShare;
      await time.wait(world, freeAtMs - time.nowMs + latencyMs);
    },
  };
}

/** Requests that a method of a store sends to DynamoDB, and their latency. Others are one read. */
const costs: Record<string, { requests: number; latencyMs: number }> = {
  commit: { requests: 2, latencyMs: durations.readMs + durations.writeMs },
  markPublished: { requests: 2, latencyMs: 2 * durations.writeMs },
  // 16 queries of the index, and up to 500 records of each shard, in batches of 100.
  dueForRepair: { requests: 96, latencyMs: 80 * durations.readMs },
};

function withCosts<Store extends object>(store: Store, cpu: Processor): Store {
  return new Proxy(store, {
    get: (target, name) => {
      const method = Reflect.get(target, name) as (...input: unknown[]) => unknown;
      const { requests, latencyMs } = costs[String(name)] ?? { requests: 1, latencyMs: durations.readMs };
      return async (...input: unknown[]) => {
        await cpu.request(latencyMs, requests);
        return method(...input);
      };
    },
  });
}

/** Step Functions with its token buckets. A throttled request is repeated twice by the SDK, and fails then. */
function createStepFunctions(time: VirtualTime, region: RepairScenario['region']) {
  const states = new Map<string, 'running' | 'ended'>();
  const counts = { starts: 0, throttled: 0 };
  const { startExecution, describeExecution, listExecutions } = buckets[region];
  const take = {
    start: createBucket(time, startExecution),
    describe: createBucket(time, describeExecution),
    list: createBucket(time, listExecutions),
  };
  return {
    states,
    counts,
    start: async (input: Parameters<Executions['start']>[0], cpu: Processor) => {
      await send(take.start, cpu);
      counts.starts += 1;
      const name = executionName(input);
      if (states.get(name) === 'ended') return 'already' as const;
      states.set(name, 'running');
      return 'started' as const;
    },
    status: async (input: Parameters<Executions['status']>[0], cpu: Processor) => {
      await send(take.describe, cpu);
      const state = states.get(executionName(input));
      return state === 'ended' ? ('failed' as const) : state;
    },
    list: async (cpu: Processor) => {
      const running = [...states].flatMap(([name, state]) => (state === 'running' ? [name] : []));
      // At least one page of each state machine.
      const pages = Math.max(1, Math.ceil(running.length / 1000)) + 1;
      for (let page = 0; page < pages; page += 1) await send(take.list, cpu);
      return running;
    },
  };

  async function send(takeToken: () => boolean, cpu: Processor): Promise<void> {
    for (const retryMs of [500, 1000, 0]) {
      await cpu.request(durations.stepFunctionsMs);
      if (takeToken()) return;
      counts.throttled += 1;
      await time.wait(world, retryMs);
    }
    throw new TransientError('Rate exceeded');
  }
}

function createBucket(
  time: VirtualTime,
  { burst, perSecond }: { burst: number; perSecond: number },
): () => boolean {
  let tokens = burst;
  let atMs = time.nowMs;
  return () => {
    tokens = Math.min(burst, tokens + ((time.nowMs - atMs) / 1000) * perSecond);
    atMs = time.nowMs;
    if (tokens < 1) return false;
    tokens -= 1;
    return true;
  };
}

import { createCallerUsage } from '../../adapters/caller-usage.ts';
import { dynamoStores } from '../../adapters/aws/dynamodb/stores.ts';
import { meteredVision } from '../../adapters/vision/metered-vision.ts';
import { publishCommits, publishCreations } from '../../core/event/publish.ts';
import { createDigest } from '../../core/job/create-digest.ts';
import { createMonitor } from '../../core/job/create-monitor.ts';
import { newCaller } from '../../core/records/caller.ts';
import { repairRun } from '../../core/workflow/repair.ts';
import { rules } from '../../core/rules.ts';
import { watchRequestSchema } from '../../core/requests/watches.ts';
import { createWatch } from '../../core/watch/create-watch.ts';
import { startDynamoLocal } from '../../test/adapters/aws/dynamodb/start-dynamo-local.ts';
import { createWorld, digestRequest, monitorRequest } from '../../test/support/world.ts';
import { countUnits } from './count-units.ts';
import type { KeyClassUnits } from './count-units.ts';

/** Units and requests of one operation, on average, and the processor time of this process. */
export type SampledOperation = {
  operation: string;
  reads: number;
  writes: number;
  requests: number;
  cpuMs: number;
  byClass: Map<string, KeyClassUnits>;
};

const intervalSeconds = 10;
/** One generation, so that a hand-over is part of the average. */
const ticks: number = rules.ticksPerExecution;
const caller = 'harbour';
const webhook = { webhook_url: 'https://receiver.example/hook' };

/** Runs the operations of the core on DynamoDB Local, and counts what they consume. Ticks have the clock of their wake-ups. */
export async function sampleOperations(): Promise<SampledOperation[]> {
  await using cleanup = new AsyncDisposableStack();
  const local = await startDynamoLocal();
  cleanup.defer(() => local.stop());
  const monitor = (fields: object) => async (world: World) =>
    (
      await createMonitor(
        monitorRequest({
          interval_seconds: intervalSeconds,
          monitor_duration_seconds: 3600,
          max_triggers: null,
          ...fields,
        }),
        caller,
        world.c,
      )
    ).run_id;
  const digest = async (world: World) =>
    (
      await createDigest(
        digestRequest({
          capture_interval_seconds: intervalSeconds,
          window_minutes: 10,
          digest_duration_seconds: 3600,
        }),
        caller,
        world.c,
      )
    ).run_id;
  const watch = async (world: World) => {
    const request = watchRequestSchema.parse({
      name: 'lock',
      stream_url: 'https://example.com/live.m3u8',
      interval_seconds: intervalSeconds,
      conditions: [{ condition: 'a ship enters the lock' }],
    });
    return (await createWatch(request, caller, world.c)).run_id;
  };
  const still = (world: World) => world.script.moved.push(...Array.from({ length: 2 * ticks }, () => false));
  const triggered = (world: World) =>
    world.script.verdicts.push(...Array.from({ length: ticks }, () => true));
  const ofTicks: [string, Create, Prepare?][] = [
    ['tick of a monitor', monitor({})],
    ['tick of a monitor with a webhook', monitor(webhook)],
    ['tick that the pre-filter skips (forced each seventh)', monitor({}), still],
    ['tick that alerts, with a webhook', monitor({ ...webhook, trigger_cooldown_seconds: 0 }), triggered],
    ['tick of a digest (a sample, window of 10 minutes)', digest],
    ['tick of a watch', watch],
  ];
  const sampled: SampledOperation[] = [];
  for (const [operation, create, prepare] of ofTicks)
    sampled.push(await measure(local, operation, ticks, (world) => runTicks(world, create, prepare)));
  sampled.push(
    await measure(local, 'creation of a monitor', 10, async (world) => ({
      run: async () => void (await monitor({})(world)),
    })),
    await measure(local, 'repair of a job whose execution has ended', 1, repairEnded),
  );
  return sampled;
}

type World = Awaited<ReturnType<typeof openWorld>>;
type Create = (world: World) => Promise<string>;
type Prepare = (world: World) => void;
type Operation = { run: () => Promise<void> };

async function openWorld(local: Awaited<ReturnType<typeof startDynamoLocal>>) {
  const { client, tableName } = await local.makeTable();
  const used = countUnits(client);
  const world = createWorld({ maxJobSeconds: 3600, jobsPerCaller: 1000 });
  const now = () => world.clock.now;
  const { runs, jobs, watches, meter, callers, deliveries, usage } = dynamoStores({
    client,
    tableName,
    now,
  });
  const { queue, log, vision } = world.c;
  const publishing = { queue, deliveries, log, now };
  await callers.add(newCaller(caller, null, now()));
  Object.assign(world.c, {
    runs: publishCommits(runs, publishing),
    jobs,
    watches: publishCreations(watches, runs, publishing),
    meter,
    callers,
    deliveries,
    usage: createCallerUsage({ ledger: usage, modelPrice: { input: 0.000_06, output: 0.000_24 }, log, now }),
    // Several conditions of a watch share a call.
    vision: meteredVision(
      {
        ...vision,
        judgeConditions: async (_, questions) => ({
          verdicts: questions.map(({ condition_id }) => ({
            condition_id,
            triggered: false,
            explanation: 'It is not there.',
          })),
          tokens: { input_tokens: 1200, output_tokens: 45 },
        }),
      },
      meter,
    ),
  });
  return { ...world, used };
}

async function measure(
  local: Awaited<ReturnType<typeof startDynamoLocal>>,
  operation: string,
  count: number,
  prepare: (world: World) => Promise<Operation>,
): Promise<SampledOperation> {
  const world = await openWorld(local);
  const { run } = await prepare(world);
  world.used();
  const cpu = process.cpuUsage();
  for (let time = 0; time < count; time += 1) await run();
  const { user, system } = process.cpuUsage(cpu);
  const { reads, writes, requests, byClass } = world.used();
  world.close();
  const each = (total: number) => total / count;
  return {
    operation,
    reads: each(reads),
    writes: each(writes),
    requests: each(requests),
    cpuMs: each((user + system) / 1000),
    byClass: new Map(
      [...byClass].map(([name, units]) => [name, { reads: each(units.reads), writes: each(units.writes) }]),
    ),
  };
}

async function runTicks(
  world: World,
  create: Create,
  prepare: Prepare = () => undefined,
): Promise<Operation> {
  const id = await create(world);
  prepare(world);
  let generation = 0;
  let step = await world.begin({ job_id: id, generation });
  const run = async () => {
    step = await world.tick(step);
    if (!step.done) return;
    generation += 1;
    step = await world.begin({ job_id: id, generation });
    if (step.done) throw new Error('The job ended during the sample');
  };
  await run();
  return { run };
}

async function repairEnded(world: World): Promise<Operation> {
  const request = monitorRequest({ monitor_duration_seconds: 3600, max_triggers: null, ...webhook });
  const { run_id: id } = await createMonitor(request, caller, world.c);
  await world.tick(await world.begin({ job_id: id, generation: 0 }));
  world.executions.set(`${id}-0`, 'aborted');
  world.advance(rules.leaseMarginSeconds + 60);
  return { run: () => repairRun(id, world.c) };
}

import { beforeEach, expect, test } from 'vitest';
import {
  instrumentCapturer,
  instrumentRuns,
  instrumentMeter,
  instrumentVision,
} from '../../../../adapters/aws/telemetry/instrument.ts';
import { instrumentRepairs } from '../../../../functions/reconcile/dependencies.ts';
import { StreamFetchError } from '../../../../core/errors.ts';
import { ModelBusyError, VisionError } from '../../../../core/vision-errors.ts';
import { cancelJob } from '../../../../core/job/end-job.ts';
import { createMonitor } from '../../../support/create-jobs.ts';
import { repairDue } from '../../../../core/workflow/repair.ts';
import { createWorld, monitorRequest } from '../../../support/world.ts';
import { judgeCondition } from '../../../../core/ports/vision-model.ts';

const added: [string, number][] = [];
const measurements = { add: (name: string, value = 1) => void added.push([name, value]) };
const names = () => added.map(([name]) => name);
const clocked = () => {
  let ms = 0;
  return { measurements, elapsedMs: () => (ms += 40) };
};
const signal = new AbortController().signal;

beforeEach(() => {
  added.length = 0;
});

test('start, ticks, triggers and end of a job are counted once each, from committed events', async () => {
  const world = createWorld();
  world.c.runs = instrumentRuns(world.c.runs, measurements);
  world.script.verdicts.push(false, true);
  world.script.moved.push(true, true, false);
  const job = await createMonitor(monitorRequest({ max_triggers: 5 }), 'harbour', world.c);

  let step = await world.begin({ run_id: job.run_id, generation: 0 });
  for (let tick = 0; tick < 3; tick += 1) step = await world.tick(step);
  await cancelJob(job.run_id, 'harbour', world.c);

  expect(names()).toEqual([
    'JobsStarted',
    'Ticks',
    'Ticks',
    'Triggers',
    'Ticks',
    'FramesSkipped',
    'JobsStopped',
  ]);
});

test('an outdated change counts nothing', async () => {
  const runs = instrumentRuns({ commit: async () => 'outdated' } as never, measurements);

  await runs.commit({ events: [{ type: 'watch_triggered' }] } as never);

  expect(added).toEqual([]);
});

test('calls, latency and tokens of the model are measured, errors and throttles counted, a busy model not at all', async () => {
  const world = createWorld();
  const vision = instrumentVision(world.c.vision, clocked());
  const unusable = new VisionError('', { calls: [{ input_tokens: 9, output_tokens: 3, failed: true }] });
  const throttled = Object.assign(new Error('slow down'), { name: 'ThrottlingException' });
  world.script.verdicts.push(true, new VisionError('', { cause: throttled }), unusable, new ModelBusyError());
  const look = { mode: 'frames', frame: new Uint8Array() } as const;

  await judgeCondition(vision, look, { condition: 'a ship' }, signal);
  for (let call = 0; call < 3; call += 1)
    await expect(judgeCondition(vision, look, { condition: 'a ship' }, signal)).rejects.toThrow(VisionError);

  expect(added).toEqual([
    ['ModelLatency', 40],
    ['ModelCalls', 1],
    ['InputTokens', 10],
    ['OutputTokens', 2],
    ['ModelCalls', 1],
    ['ModelErrors', 1],
    ['InputTokens', 0],
    ['OutputTokens', 0],
    ['ModelThrottles', 1],
    ['ModelCalls', 1],
    ['ModelErrors', 1],
    ['InputTokens', 9],
    ['OutputTokens', 3],
  ]);
});

test('captures and their errors are counted', async () => {
  const world = createWorld();
  const streams = instrumentCapturer(world.c.streams, clocked());
  const request = {
    url: 'https://example.com',
    mode: 'frames',
    clipSeconds: 3,
    caller: 'ada',
    resolveAgain: false,
  } as const;
  world.script.captures.push({}, new StreamFetchError(''));

  await streams.capture(request, signal);
  await expect(streams.capture(request, signal)).rejects.toThrow(StreamFetchError);

  expect(added).toEqual([
    ['CapturesTaken', 1],
    ['CaptureLatency', 40],
    ['CaptureErrors', 1],
  ]);
});

test('the results of deliveries are counted for operators and for callers', async () => {
  const world = createWorld();
  const meter = instrumentMeter(world.c.meter, measurements);

  await meter.count({ kind: 'delivery', delivered: true, isMail: false });
  await meter.count({ kind: 'delivery', delivered: false, isMail: false });
  await meter.count({ kind: 'direct_frame' });

  expect(names()).toEqual(['DeliveriesDone', 'DeliveriesFailed']);
  expect((await meter.read()).deliveries).toEqual({ delivered: 1, failed: 1 });
});

test('a repair is counted if something was repaired, and not otherwise', async () => {
  const world = createWorld();
  const job = await createMonitor(monitorRequest(), 'harbour', world.c);
  Object.assign(world.c, instrumentRepairs(world.c, measurements));
  world.executions.clear();
  world.advance(120);

  await repairDue(world.c, { dueBy: world.clock.now, limit: 10 });
  expect(names()).toEqual(['Repairs']);
  expect(world.executions.has(`${job.run_id}-0`)).toBe(true);

  await repairDue(world.c, { dueBy: world.clock.now, limit: 10 });
  expect(names()).toEqual(['Repairs']);

  world.executions.set(`${job.run_id}-0`, 'aborted');
  world.advance(3600);
  await repairDue(world.c, { dueBy: world.clock.now, limit: 10 });
  expect(names()).toEqual(['Repairs', 'Repairs']);
});

import { describe, expect, test } from 'vitest';
import type { Schedule } from '../../../core/records/watch.ts';
import { changeWatch } from '../../../core/policies/watch/change.ts';
import { repairRun } from '../../../core/workflow/repair.ts';
import { rules } from '../../../core/rules.ts';
import { analyzeTask } from '../../../core/workflow/tasks.ts';
import {
  commitDecision,
  createWatch,
  run,
  stored,
  watchId,
  world,
} from '../../support/watches/watch-world.ts';
import { judgingEach } from '../../support/scripted-model.ts';

const later = 'aaaaaaaa-0000-4000-8000-000000000001';

describe('executions of a watch', () => {
  test('a tick that a change overtakes starts another generation, which waits for what the tick plans', async () => {
    const begun = await createWatch();
    world.c.vision.judge = judgingEach(async () => {
      const watch = await stored();
      await commitDecision(
        changeWatch(watch, { config: watch.config, isOtherStream: false }, world.clock.now),
      );
      return { triggered: true, explanation: 'Seen.', tokens: { input_tokens: 10, output_tokens: 2 } };
    });
    expect((await run(begun, 1)).done).toBe(true);
    const { wait_until } = (await stored()).next ?? {};
    expect(world.executions.get(`${watchId}-2`)).toBe('running');
    expect(await world.begin({ run_id: watchId, generation: 2 })).toMatchObject({ wait_until });
  });

  test('a failed workflow starts the next generation after a growing wait', async () => {
    await run(await createWatch(), 1);
    const failure = { Error: 'Lambda.Unknown', Cause: 'out of memory' };
    await analyzeTask({ operation: 'close', run_id: watchId, generation: 0, failure }, world.c);
    expect(await stored()).toMatchObject({ generation: 1, status: 'active' });
    expect(world.executions.get(`${watchId}-1`)).toBe('running');
    const resumed = await world.begin({ run_id: watchId, generation: 1 });
    expect(resumed).toMatchObject({ done: false, capture: { probes_lost: true, tick: 2 } });
    await analyzeTask({ operation: 'close', run_id: watchId, generation: 0, failure }, world.c);
    expect((await stored()).generation).toBe(1);
  });

  test('a repair starts a missing execution, and the next generation of an ended one', async () => {
    await createWatch();
    await repairRun(watchId, world.c);
    expect(world.executions.get(`${watchId}-0`)).toBe('running');
    world.executions.set(`${watchId}-0`, 'aborted');
    await repairRun(watchId, world.c);
    expect(world.executions.get(`${watchId}-1`)).toBe('running');
    expect((await stored()).status).toBe('active');
  });

  test('a watch hands over before a long wait, and wakes up once a day until its schedule begins', async () => {
    // Sunday, 12:00.
    const schedule: Schedule = { time_zone: 'UTC', active: [{ days: ['sat'], from: '10:00', to: '11:00' }] };
    let step = await createWatch({ schedule });
    const generations: number[] = [];
    const waits: number[] = [];
    for (let tick = 0; tick < 7; tick += 1) {
      const from = world.clock.now.getTime();
      await world.tick(step);
      const run = await stored();
      generations.push(run.generation);
      waits.push(Date.parse(run.next!.wait_until) - Math.max(from, world.clock.now.getTime()));
      step = await world.begin({ run_id: watchId, generation: run.generation });
    }
    expect(generations.slice(0, 6)).toEqual([1, 2, 3, 4, 5, 6]);
    for (const wait of waits) expect(wait).toBeLessThanOrEqual((rules.maxWatchWaitSeconds + 60) * 1000);
    expect(world.clock.now.toISOString().slice(0, 13)).toBe('2026-03-07T10');
    expect(await stored()).toMatchObject({ status: 'active', generation: 6 });
  });

  test('a watch runs through many generations without growth of its record', async () => {
    let step = await createWatch();
    const sizes: number[] = [];
    for (let tick = 0; tick < 200; tick += 1) {
      step = await world.tick(step);
      const current = await stored();
      if (step.done) step = await world.begin({ run_id: watchId, generation: current.generation });
      if (tick > 20) sizes.push(JSON.stringify(current).length);
    }
    expect((await stored()).generation).toBeGreaterThan(2);
    expect(Math.max(...sizes)).toBeLessThan(2500);
  });

  test('an execution of an unknown id has nothing to do', async () => {
    await createWatch();
    expect(await world.begin({ run_id: later, generation: 0 })).toMatchObject({ done: true });
  });
});

test('Begin of a watch in bursts has each variable that the choices of the workflow on AWS read', async () => {
  await createWatch();
  const begin = (run_id: string) =>
    analyzeTask({ operation: 'begin', run_id, generation: 0, bursts: true }, world.c);
  expect(await begin(watchId)).toMatchObject({ burst: 1, done: false, over: false, rests: false });
  expect(await begin(watchId)).toMatchObject({ burst: 2, done: false, over: false, rests: false });
  expect(await begin(crypto.randomUUID())).toMatchObject({ done: true, over: true, rests: false });
});

import { beforeEach, describe, expect, test } from 'vitest';
import { createMonitor } from '../../support/create-jobs.ts';
import { analyzeTask } from '../../../core/workflow/tasks.ts';
import { createWorld, monitorRequest, type World } from '../../support/world.ts';
import { addCut, heldSeconds, modelSeconds, planBurst, shortenBurst } from '../../../core/workflow/burst.ts';
import { rules } from '../../../core/rules.ts';
import type { AnalyzeInput } from '../../../core/records/workflow.ts';
import bursts from '../../../lib/workflow/bursts.asl.json' with { type: 'json' };
import { after, start } from '../../contract/records.ts';

const tick: Extract<AnalyzeInput, { operation: 'analyze' }> = {
  operation: 'analyze',
  run_id: '00000000-0000-4000-8000-000000000001',
  generation: 0,
  capture: {
    source_id: '00000000-0000-4000-8000-000000000002',
    tick: 1,
    closing: false,
    resolve_again: false,
    seen: null,
    motion: null,
  },
  captured: { kind: 'not_captured', began_at: start.toISOString() },
};
const inBurst = { ...tick, burst: 3, burst_started_at: start.toISOString(), burst_seconds: 240 };

describe('planBurst', () => {
  test('an execution without bursts is done when its job is over', () => {
    expect(planBurst(tick, false, after(10), after(0))).toEqual({ done: false });
    expect(planBurst(tick, true, after(10), after(0))).toEqual({ done: true });
  });

  test('a burst continues while the next tick begins within its time', () => {
    expect(planBurst(inBurst, false, after(240), after(231))).toMatchObject({ done: false, over: false });
    expect(planBurst(inBurst, false, after(250), after(241))).toEqual({
      done: true,
      over: false,
      rests: false,
      burst: 3,
    });
  });

  test('a burst ends before a wait that costs more in it than between two bursts', () => {
    const wait = rules.maxBurstWaitSeconds + 1;
    expect(planBurst(inBurst, false, after(wait), after(0))).toMatchObject({ done: true, rests: true });
    expect(planBurst(inBurst, false, after(wait - 1), after(0))).toMatchObject({ done: false });
  });

  test('the wait after a burst is in the next one if it is shorter than a transition is worth', () => {
    const { minRestSeconds } = rules;
    expect(planBurst(inBurst, false, after(239 + minRestSeconds), after(239))).toMatchObject({
      rests: false,
    });
    expect(planBurst(inBurst, false, after(240 + minRestSeconds), after(239))).toMatchObject({ rests: true });
  });

  test('the burst of an ended job is over and does not rest', () => {
    expect(planBurst(inBurst, true, after(1000), after(0))).toMatchObject({
      done: true,
      over: true,
      rests: false,
    });
  });
});

describe('modelSeconds', () => {
  test('a model call in a burst ends before the burst', () => {
    expect(modelSeconds(tick, 90, after(250))).toBe(90);
    expect(modelSeconds(inBurst, 90, after(100))).toBe(90);
    expect(modelSeconds(inBurst, 90, after(250))).toBe(40);
    expect(modelSeconds(inBurst, 90, after(290))).toBe(15);
  });
});

describe('bursts that the service cuts', () => {
  const cuts = (...held: number[]) =>
    held.reduce<ReturnType<typeof addCut> | undefined>((all, each) => addCut(all, each, start), undefined);
  const shortened = (...held: number[]) => shortenBurst(inBurst, cuts(...held), after(1)).burst_seconds;

  test.each([
    ['refused', 2, undefined],
    ['held for a minute', 60, 60],
    ['held for its whole time', 295, undefined],
  ])('a burst that was %s was held for as long as that says', (_, seconds, held) => {
    const times = { began_at: start.toISOString(), ended_at: after(seconds).toISOString() };
    expect(heldSeconds(times)).toBe(held);
  });

  test('the third cut shortens the bursts to what held, with time for the last tick', () => {
    expect(shortened(180, 120)).toBe(240);
    expect(shortened(180, 120, 150)).toBe(120 - 55);
    expect(shortened(40, 40, 40)).toBe(1);
    expect(shortenBurst(tick, cuts(60, 60, 60), after(1))).toBe(tick);
  });

  test('a model call ends before the time at which the service cuts', () => {
    const short = shortenBurst(inBurst, cuts(60, 60, 60), after(1));
    expect(modelSeconds(short, 90, after(20))).toBe(35);
  });

  test('a day without a cut makes the bursts as long as planned', () => {
    const known = cuts(60, 60, 60);
    const later = after(rules.shortBurstsSeconds);
    expect(shortenBurst(inBurst, known, later)).toBe(inBurst);
    expect(addCut(known, 100, later)).toMatchObject({ cuts: 1, held_seconds: 100 });
  });

  test('the bursts are short before the failures in a row end a job', () => {
    expect(rules.cutsToShorten).toBeLessThan(bursts.States['Give up?'].Choices[0]!.NumericGreaterThanEquals);
  });
});

describe('the bursts of a job', () => {
  let world: World;
  beforeEach(() => {
    world = createWorld();
  });

  const begin = async (jobId: string) =>
    analyzeTask({ operation: 'begin', run_id: jobId, generation: 0, bursts: true }, world.c);
  const accept = async (fields: Record<string, unknown> = {}) =>
    (await createMonitor(monitorRequest({ max_triggers: null, ...fields }), 'harbour', world.c)).run_id;
  const analyze = async (jobId: string, burst: number, number: number) => {
    const { source_id } = (await world.c.jobs.get(jobId, world.c.now()))!;
    const capture = { ...tick.capture, source_id, tick: number };
    const started = { burst, burst_started_at: world.c.now().toISOString(), burst_seconds: 240 };
    const captured = {
      kind: 'unavailable',
      message: 'No process is free',
      began_at: start.toISOString(),
    } as const;
    return analyzeTask({ ...tick, run_id: jobId, capture, captured, ...started }, world.c);
  };

  test('Begin takes the next burst number each time', async () => {
    const jobId = await accept();
    expect(await begin(jobId)).toMatchObject({ burst: 1, done: false, over: false });
    expect(await begin(jobId)).toMatchObject({ burst: 2, done: false, over: false });
    expect(await begin(crypto.randomUUID())).toMatchObject({ done: true, over: true });
  });

  test('a tick of a burst continues it, and its number stays', async () => {
    const jobId = await accept();
    await begin(jobId);
    expect(await analyze(jobId, 1, 1)).toMatchObject({ done: false, over: false, burst: 1 });
  });

  test('a tick of an abandoned burst ends it without a change of the job', async () => {
    const jobId = await accept();
    await begin(jobId);
    await begin(jobId);
    expect(await analyze(jobId, 1, 1)).toMatchObject({ done: true, over: true });
    expect((await world.c.jobs.get(jobId, world.c.now()))?.last_tick).toBe(0);
    expect(await analyze(jobId, 2, 1)).toMatchObject({ done: false, burst: 2 });
  });

  test('a generation ends after a number of failed bursts, because each is in the history of its execution', async () => {
    const jobId = await accept();
    for (let time = 0; time < rules.beginsPerExecution; time += 1) await begin(jobId);

    expect(await analyze(jobId, rules.beginsPerExecution, 1)).toMatchObject({ done: true, over: true });

    expect(await world.c.jobs.get(jobId, world.c.now())).toMatchObject({ generation: 1, burst: 0 });
    expect(world.executions.get(`${jobId}-1`)).toBe('running');
  });
});

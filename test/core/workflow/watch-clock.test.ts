import { describe, expect, test } from 'vitest';
import type { Budget, Destination } from '../../../core/records/watch.ts';
import type { WorkflowState } from '../../../core/records/workflow.ts';
import { newCondition } from '../../support/watches/watch-records.ts';
import { changeWatch } from '../../../core/policies/watch/change.ts';
import { changeStoredWatch } from '../../../core/watch/commit-watch.ts';
import { snoozeStoredWatch } from '../../../core/watch/control-watch.ts';
import { newCreation } from '../../contract/watch-records.ts';
import { createWorld, type World } from '../../support/world.ts';

/** Watches of several minutes on a wall clock that is set back by an hour while they wait. */

let world: World;

type Options = {
  cooldown?: number;
  remind?: number | null;
  closeAfter?: number;
  budget?: Budget | null;
  destinations?: Destination[];
};
let watchId: string;

async function begin({
  cooldown = 0,
  remind = null,
  closeAfter = 0,
  budget = null,
  destinations = [],
}: Options = {}) {
  world = createWorld();
  const creation = newCreation();
  const { config } = creation;
  const condition = newCondition({
    checks_to_close: 1,
    cooldown_seconds: cooldown,
    remind_seconds: remind,
    close_after_seconds: closeAfter,
  });
  Object.assign(config, { schedule: null, regions: null, budget, destinations, conditions: [condition] });
  watchId = creation.run_id;
  await world.c.watches.create({ ...creation, events: [], sequence: 0 }, world.clock.now);
  return world.begin({ run_id: watchId, generation: 0 });
}

async function run(step: WorkflowState, ticks: number): Promise<WorkflowState> {
  let current = step;
  for (let tick = 0; tick < ticks; tick += 1) current = await world.tick(current);
  return current;
}

/** Sets the clock back by an hour: the execution wakes after its wait, as its timer is monotonic. */
async function tickAfterSetBack(step: WorkflowState): Promise<WorkflowState> {
  const wait = Date.parse(step.wait_until) - world.clock.now.getTime();
  world.clock.now = new Date(world.clock.now.getTime() - 3_600_000 + wait);
  return world.tick({ ...step, wait_until: world.clock.now.toISOString() });
}

async function types(): Promise<string[]> {
  const events = await world.c.watches.events(watchId, 0, 1000, new Date(0));
  return events.map(({ type }) => type).filter((type) => type !== 'progress');
}

async function hours() {
  const all = await world.c.watches.hours(watchId, new Date(0), new Date('2100-01-01'));
  const sum = (name: 'checks' | 'watched_ms' | 'gap_ms') =>
    all.reduce((total, { counts }) => total + counts[name], 0);
  const least = Math.min(...all.flatMap(({ counts }) => Object.values(counts)));
  return { checks: sum('checks'), watched: sum('watched_ms') / 1000, gap: sum('gap_ms') / 1000, least };
}

const verdicts = (count: number, verdict: boolean) =>
  world.script.verdicts.push(...Array.from({ length: count }, () => verdict));

test('a tick is decided at the end of its model call, so that a confirming check waits from there', async () => {
  const step = await run(await begin(), 1);
  const { judge } = world.c.vision;
  world.c.vision = {
    ...world.c.vision,
    judge: async (...given) => {
      world.clock.now = new Date(world.clock.now.getTime() + 5000);
      return judge(...given);
    },
  };
  verdicts(1, true);
  const after = await world.tick(step);

  const [event] = (await world.c.watches.events(watchId, 0, 1000, new Date(0))).slice(-1);
  expect(event).toMatchObject({ type: 'progress', timestamp: world.clock.now.toISOString() });
  expect(Date.parse(after.wait_until) - world.clock.now.getTime()).toBeGreaterThanOrEqual(2000);
});

describe('a watch whose wall clock is set back by an hour', () => {
  test.each([
    ['without a budget', null],
    [
      'with a budget, which is reserved in a commit of its own',
      { model_calls_per_day: 100, usd_per_day: null },
    ],
  ])(
    'the checks keep their interval, none is made twice, and the coverage is whole %s',
    async (_, budget) => {
      const step = await run(await begin({ budget }), 10);
      const after = await tickAfterSetBack(step);
      const wait = Date.parse(after.wait_until) - world.clock.now.getTime();
      expect(wait).toBe(10_000);
      await run(after, 9);
      expect(await hours()).toEqual({ checks: 20, watched: 190, gap: 0, least: 0 });
      expect((await world.c.watches.get(watchId, new Date(0)))!.state.health.late_since).toBeNull();
    },
  );

  test('a clock that is set back during a model call leaves the coverage whole', async () => {
    const step = await run(await begin(), 10);
    const { judge } = world.c.vision;
    let calls = 0;
    world.c.vision = {
      ...world.c.vision,
      judge: async (...check) => {
        calls += 1;
        if (calls === 1) world.stepClock(-3600);
        return judge(...check);
      },
    };
    await run(step, 10);
    const { watched, gap } = await hours();
    expect(gap).toBe(0);
    expect(watched).toBeGreaterThanOrEqual(180);
    expect(watched).toBeLessThanOrEqual(200);
  });

  test('the time after which an alert closes keeps its length', async () => {
    let step = await begin({ closeAfter: 60 });
    verdicts(2, true);
    step = await run(step, 2);
    verdicts(3, false);
    step = await tickAfterSetBack(step);
    step = await run(step, 2);
    expect(await types()).toEqual(['alert_opened']);
    verdicts(4, false);
    await run(step, 4);
    expect(await types()).toEqual(['alert_opened', 'alert_closed']);
  });

  test('the cooldown and the reminders of an alert keep their length', async () => {
    let step = await begin({ cooldown: 60, remind: 60 });
    verdicts(2, true);
    step = await run(step, 2);
    verdicts(1, true);
    step = await tickAfterSetBack(step);
    verdicts(6, true);
    step = await run(step, 6);
    expect(await types()).toEqual(['alert_opened', 'alert_reminder']);
    verdicts(1, false);
    verdicts(3, true);
    await run(step, 4);
    expect(await types()).toEqual(['alert_opened', 'alert_reminder', 'alert_closed', 'alert_opened']);
  });

  test('a snooze ends after its duration', async () => {
    let step = await run(await begin(), 1);
    const stored = (await world.c.watches.get(watchId, new Date(0)))!;
    const until = new Date(world.clock.now.getTime() + 30_000).toISOString();
    const conditions = stored.state.conditions.map((each) => ({ ...each, snoozed_until: until }));
    await world.c.watches.commit({
      runId: watchId,
      expectedVersion: stored.version,
      set: { state: { ...stored.state, conditions } },
      events: [],
    });
    verdicts(8, true);
    step = await tickAfterSetBack(step);
    await run(step, 7);
    expect(await types()).toEqual(['alert_opened']);
  });

  test('a snooze by a caller before the next tick ends after its duration', async () => {
    const step = await run(await begin(), 1);
    const wait = Date.parse(step.wait_until) - world.clock.now.getTime();
    world.clock.now = new Date(world.clock.now.getTime() - 3_600_000);
    const { caller } = (await world.c.watches.get(watchId, new Date(0)))!;
    await snoozeStoredWatch({ watchId, seconds: 60, conditionId: undefined }, caller, world.c);
    world.clock.now = new Date(world.clock.now.getTime() + wait);
    verdicts(9, true);
    const snoozed = await run({ ...step, wait_until: world.clock.now.toISOString() }, 4);
    expect(await types()).toEqual([]);
    await run(snoozed, 5);
    expect(await types()).toEqual(['alert_opened']);
  });

  test('a change by a caller before the next tick keeps the length of a cooldown', async () => {
    const begun = await begin({ cooldown: 60 });
    verdicts(2, true);
    verdicts(1, false);
    await run(begun, 3);
    expect(await types()).toEqual(['alert_opened', 'alert_closed']);
    world.clock.now = new Date(world.clock.now.getTime() - 3_600_000);
    const { caller, config } = (await world.c.watches.get(watchId, new Date(0)))!;
    const change = { config: { ...config, name: 'Yard' }, isOtherStream: false };
    await changeStoredWatch(watchId, caller, world.c, (watch) => changeWatch(watch, change, world.clock.now));
    const step = await world.begin({ run_id: watchId, generation: 1 });
    verdicts(9, true);
    await run(step, 9);
    expect(await types()).toEqual(['alert_opened', 'alert_closed', 'watch_changed', 'alert_opened']);
  });

  test('the budget of a day does not begin again because the clock shows the day before', async () => {
    let step = await begin({ budget: { model_calls_per_day: 5, usd_per_day: null } });
    world.clock.now = new Date('2026-03-02T00:10:00.000Z');
    step = await run({ ...step, wait_until: world.clock.now.toISOString() }, 3);
    step = await tickAfterSetBack(step);
    await run(step, 1);
    const { budget } = (await world.c.watches.get(watchId, new Date(0)))!.state;
    expect(budget).toMatchObject({ day: '2026-03-01', calls: 5 });
    expect((await world.c.watches.get(watchId, new Date(0)))!.status).toBe('budget_exhausted');
  });

  test('an execution that begins afterwards does not wait until the clock has caught up', async () => {
    await run(await begin(), 3);
    world.clock.now = new Date(world.clock.now.getTime() - 3_600_000);
    const begun = await world.begin({ run_id: watchId, generation: 0 });
    expect(Date.parse(begun.wait_until)).toBeLessThanOrEqual(world.clock.now.getTime() + 1000);
  });
});

import { expect, test } from 'vitest';
import { StreamFetchError } from '../../../core/errors.ts';
import { VisionError } from '../../../core/vision-errors.ts';
import { listMoments } from '../../../core/memory/list-moments.ts';
import type { Schedule } from '../../../core/records/watch.ts';
import { listActive } from '../../../core/policies/watch/schedule.ts';
import { shortestVisitOfWatch } from '../../../core/policies/watch/shortest-visit-of-watch.ts';
import { watchRequestSchema } from '../../../core/requests/watches.ts';
import { pauseStoredWatch, resumeStoredWatch } from '../../../core/watch/control-watch.ts';
import { editWatch } from '../../../core/watch/edit-watch.ts';
import { readWatchStats } from '../../../core/watch/watch-stats.ts';
import { start } from '../../contract/records.ts';
import { black, quiet, tick, visitor } from '../../support/watches/scanned-watch.ts';
import { createWatch, stored, watchId, world } from '../../support/watches/watch-world.ts';

const schedule: Schedule = {
  time_zone: 'UTC',
  active: [{ days: ['sun', 'mon'], from: '12:30', to: '13:10' }],
};
const budget = { model_calls_per_day: 20, usd_per_day: null };

/** Minutes of what a watch lives through. */
const events = {
  async quiet(step) {
    return tick(step, quiet(8, 6, 4, 2), []);
  },
  async visit(step) {
    return tick(step, [...quiet(8), ...visitor(6, 4)], [true, true, false]);
  },
  async unscanned(step) {
    return world.tick(step);
  },
  async black(step) {
    world.script.black.push(true);
    return tick(step, black(8, 6, 4, 2), [], true);
  },
  async frozen(step) {
    world.script.captures.push({ frozenSeconds: 60 } as never);
    return world.tick(step);
  },
  async lost(step) {
    world.script.captures.push(new StreamFetchError('Check it.', 'The camera is gone'));
    return world.tick(step);
  },
  async unjudged(step) {
    return tick(step, visitor(6), [new VisionError('down'), new VisionError('down')], true);
  },
  async down(step) {
    world.advance(1_800);
    return world.tick(step);
  },
  async clockForward(step) {
    world.stepClock(700);
    return world.tick(step);
  },
} satisfies Record<string, (step: Awaited<ReturnType<typeof createWatch>>) => Promise<typeof step>>;

async function watched() {
  const input = {
    watchId,
    from: undefined,
    to: undefined,
    conditionId: undefined,
    triggered: undefined,
    reviewed: false,
  };
  const { watched: read } = await listMoments({ ...input, after: undefined, limit: 1 }, 'caller', world.c);
  if (!read) throw new Error('No division');
  return read;
}

const sum = (read: Awaited<ReturnType<typeof watched>>) =>
  read.judged_seconds + read.quiet_seconds + read.between_seconds + read.not_seen_seconds;

test('visits are sure to be seen from the duration on that was sure in all of the span', async () => {
  let step = await createWatch({ memory: 3, interval: 60 });
  const pass = async () => {
    for (let count = 0; count < 4; count += 1) step = await tick(step, quiet(8, 6, 4, 2), []);
  };
  await pass();
  const before = (await watched()).sure_from_seconds;
  const edit = { watchId, patch: { interval_seconds: 5 }, ifMatch: undefined };
  await editWatch(edit, 'caller', world.c, (merged) => watchRequestSchema.parse(merged));
  step = await world.begin({ run_id: watchId, generation: (await stored()).generation });
  await pass();
  expect(shortestVisitOfWatch(await stored())).toBeLessThan(before ?? 0);
  expect((await watched()).sure_from_seconds).toBe(before);
});

test.each([
  ['of ten seconds', {}],
  ['of five minutes', { interval: 300 }],
  ['with a schedule', { schedule }],
  ['with a budget that is used up', { budget }],
  ['with both', { schedule, budget, interval: 30 }],
])('the four classes are all of the active time of a watch %s, whatever happens', async (_, options) => {
  let step = await createWatch({ memory: 90, ...options });
  let seed = 11;
  const random = (below: number) => (seed = (seed * 48_271) % 2_147_483_647) % below;
  const names = Object.values(events);
  const pauses: { from: Date; to: Date }[] = [];
  for (let count = 0; count < 300; count += 1) {
    if (step.done) step = await world.begin({ run_id: watchId, generation: (await stored()).generation });
    if (random(25) === 0) {
      const from = world.clock.now;
      await pauseStoredWatch(watchId, 'caller', world.c);
      world.advance(random(3_000));
      pauses.push({ from, to: world.clock.now });
      await resumeStoredWatch(watchId, 'caller', world.c);
      step = await world.begin({ run_id: watchId, generation: (await stored()).generation });
    }
    step = await names[random(names.length)]!(step);
  }
  const { sight, config, state } = await stored();
  const until = state.causes.budget_exhausted ? world.clock.now : new Date(sight.counted_until ?? start);
  const length = (spans: { from: Date; to: Date }[]) =>
    spans.reduce((total, { from, to }) => total + (to.getTime() - from.getTime()) / 1000, 0);
  const paused = pauses.flatMap(({ from, to }) => listActive(config.schedule, from, to));
  const read = await watched();
  expect(sum(read)).toBeCloseTo(length(listActive(config.schedule, start, until)) - length(paused), -1);
  expect(read.coverage).toBeCloseTo(1 - read.not_seen_seconds / sum(read), 5);
});

test('the time since a budget is used up is a gap before any tick counts it, in memory and in statistics', async () => {
  let step = await createWatch({ memory: 3, budget: { ...budget, model_calls_per_day: 2 } });
  while (!(await stored()).state.causes.budget_exhausted) step = await events.visit(step);
  world.advance(5_000);
  const read = await watched();
  expect(sum(read)).toBeCloseTo((world.clock.now.getTime() - start.getTime()) / 1000, -1);
  expect(read.gaps.at(-1)).toMatchObject({ to: world.clock.now.toISOString(), reason: 'budget' });
  const { total } = await readWatchStats({ watchId }, 'caller', world.c);
  expect(total.coverage).toBeCloseTo(read.coverage ?? 1, 2);
  expect(total.not_seen_seconds).toBeGreaterThan(4_900);
});

test('the four classes are all of the time of a watch whose clock is set back before its creation', async () => {
  let step = await createWatch({ memory: 3 });
  for (let count = 0; count < 10; count += 1) step = await events.visit(step);
  // The execution wakes after its wait, as its timer is monotonic.
  const waitMs = Date.parse(step.wait_until) - world.clock.now.getTime();
  world.clock.now = new Date(world.clock.now.getTime() - 3_600_000 + waitMs);
  step = await events.visit({ ...step, wait_until: world.clock.now.toISOString() });
  for (let count = 0; count < 9; count += 1) step = await events.visit(step);
  world.clock.now = new Date(start.getTime() + 3_600_000);
  expect(sum(await watched())).toBe(190);
});

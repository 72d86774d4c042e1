import { expect, test } from 'vitest';
import { VisionError } from '../../../core/vision-errors.ts';
import type { WorkflowState } from '../../../core/records/workflow.ts';
import { readHour } from '../../../core/sight/spans.ts';
import { readWatchStats } from '../../../core/watch/watch-stats.ts';
import { start } from '../../contract/records.ts';
import { compared, newScan } from '../../support/watches/scans.ts';
import { quiet, tick, visitor } from '../../support/watches/scanned-watch.ts';
import { alertEvents, createWatch, run, stored, watchId, world } from '../../support/watches/watch-world.ts';
import { judgingEach } from '../../support/scripted-model.ts';

const read = async () =>
  (await readWatchStats({ watchId, from: undefined, to: undefined }, 'caller', world.c)).total;
const still = [...quiet(10, 8, 6, 4, 2)];

test('a scan without motion is quiet, and one with a visit that the model judged is judged', async () => {
  const clear = await tick(await run(await createWatch(), 1), still, []);
  await tick(clear, [...quiet(10, 8), ...visitor(6, 4)], [true, true, false]);
  expect(await read()).toMatchObject({
    quiet_seconds: 10,
    judged_seconds: 10,
    between_seconds: 0,
    coverage: 1,
  });
});

test('captures without a scan leave the time between their pictures', async () => {
  await run(await createWatch(), 4);
  expect(await read()).toMatchObject({
    quiet_seconds: 0,
    judged_seconds: 3,
    between_seconds: 27,
    coverage: 1,
  });
});

test('a visit whose moments the model failed to judge, or the budget does not cover, is neither quiet nor judged', async () => {
  const failed = await tick(
    await run(await createWatch(), 1),
    [...quiet(10), ...visitor(6)],
    [new VisionError('down'), false],
  );
  expect(await read()).toMatchObject({ quiet_seconds: 0, judged_seconds: 0, between_seconds: 10 });
  expect(failed.done).toBe(false);
  const budget = { model_calls_per_day: 2, usd_per_day: null };
  await tick(await run(await createWatch({ budget }), 1), [...quiet(10), ...visitor(6)], [false]);
  expect(await read()).toMatchObject({
    quiet_seconds: 0,
    judged_seconds: 0,
    between_seconds: 10,
    coverage: 1,
  });
});

test('a gap has its reason, hour by hour, and the sum of all classes is the active time', async () => {
  const budget = { model_calls_per_day: 2, usd_per_day: null };
  let step = await run(await createWatch({ budget }), 2);
  for (let count = 0; count < 3; count += 1) {
    if (step.done) step = await world.begin({ run_id: watchId, generation: (await stored()).generation });
    step = await world.tick(step);
  }
  const { total, hours } = await readWatchStats(
    { watchId, from: undefined, to: undefined },
    'caller',
    world.c,
  );
  const from = new Date(start.getTime() + 10_000).toISOString();
  expect(hours[0]?.gaps).toEqual([{ from, to: '2026-03-01T13:00:00.000Z', reason: 'budget' }]);
  const { judged_seconds: judged, quiet_seconds: still, between_seconds: between } = total;
  expect(judged + still + between).toBe(20);
  expect(total.not_seen_seconds).toBe((world.clock.now.getTime() - start.getTime()) / 1000 - 20);
});

test('a condition that the model cannot judge is not judged in the time that others claim', async () => {
  let step = await run(await createWatch({ conditions: ['person', 'car'] }), 1);
  world.c.vision.judge = judgingEach(async (_media, condition) => ({
    triggered: false,
    explanation: '',
    ...(condition.includes('car') && { judged: false }),
    tokens: { input_tokens: 1, output_tokens: 1 },
  }));
  for (let count = 0; count < 3; count += 1) step = await tick(step, still, [], true);
  expect(await read()).toMatchObject({ judged_seconds: 30, unjudged_seconds: { car: 30 } });
});

test('a condition that the model did not judge in a moment of a scan is not judged in its time', async () => {
  const step = await run(await createWatch({ conditions: ['person', 'car'] }), 1);
  // One call a frame, the newest last.
  const frames = [null, false, false];
  world.c.vision.judge = async (_media, questions) => {
    const car = frames.shift() === null ? null : false;
    return {
      moments: [
        questions.map(({ condition_id, condition }) => ({
          condition_id,
          triggered: condition.includes('car') ? car : false,
          explanation: '',
        })),
      ],
      tokens: { input_tokens: 1, output_tokens: 1 },
    };
  };
  await tick(step, [...quiet(10, 8), ...visitor(6, 4)], []);
  expect(await read()).toMatchObject({ judged_seconds: 10, unjudged_seconds: { car: 10 } });
});

test('checks that may have seen a condition are counted by condition, once each', async () => {
  let step = await run(await createWatch({ conditions: ['person', 'car'] }), 1);
  world.c.vision.judge = async (_media, questions) => ({
    moments: [
      questions.map(({ condition_id, condition }) => ({
        condition_id,
        triggered: false,
        explanation: '',
        ...(condition.includes('car') && { unsure: true as const }),
      })),
    ],
    tokens: { input_tokens: 1, output_tokens: 1 },
  });
  for (let count = 0; count < 3; count += 1) step = await tick(step, still, [], true);
  expect(await read()).toMatchObject({ unsure_sightings: { car: 3 } });
});

test('no visit is in quiet time, whatever moves', async () => {
  let step: WorkflowState = await run(await createWatch(), 1);
  let seed = 7;
  const random = (below: number) => (seed = (seed * 48_271) % 2_147_483_647) % below;
  const visits: number[] = [];
  const { capture } = world.c.streams;
  for (let count = 0; count < 150; count += 1) {
    const frames = [10, 8, 6, 4, 2].map((before) => ({
      before,
      shows: random(6) === 0 ? ('visitor' as const) : ('quiet' as const),
    }));
    const moved = random(9) === 0;
    world.script.moved.push(moved);
    world.script.earlier.push(frames.map(compared));
    world.c.streams.capture = async (...given) => {
      const captured = await capture(...given);
      visits.push(
        ...frames.flatMap(({ before, shows }) =>
          shows === 'visitor' ? captured.capturedAt.getTime() - before * 1000 : [],
        ),
      );
      if (moved) visits.push(captured.capturedAt.getTime());
      return { ...captured, scan: newScan(captured.capturedAt, frames) };
    };
    step = await world.tick(step);
  }
  const hours = await world.c.watches.hours(watchId, start, world.clock.now);
  const spans = hours.flatMap(({ hour, seen }) => readHour(new Date(hour), seen));
  const silent = spans.filter((span) => span.class === 'quiet');
  expect(silent.length).toBeGreaterThan(5);
  for (const at of visits)
    expect(silent.filter(({ from, to }) => from.getTime() < at && at < to.getTime())).toEqual([]);
  const total = await read();
  const sum = total.judged_seconds + total.quiet_seconds + total.between_seconds + total.not_seen_seconds;
  expect(sum).toBeCloseTo((world.clock.now.getTime() - start.getTime()) / 1000 - 10, -1);
});

test.each([
  ['is there again', [true, false, false]],
  ['is there again at the second look', [false, true, false, false]],
  ['is there again after a look without motion', [null, true, false, false]],
  ['has gone', [false, false]],
  ['has gone after a look without motion', [null, false, false]],
])('an alert was not seen in a gap, whether it %s then', async (_what, then) => {
  const seenSeconds = async (gapSeconds: number) => {
    let step = await createWatch({ toOpen: 1 });
    for (const [count, verdict] of [true, true, ...then].entries()) {
      if (count === 2) world.clock.now = new Date(world.clock.now.getTime() + gapSeconds * 1000);
      world.script.moved.push(verdict !== null);
      if (verdict !== null) world.script.verdicts.push(verdict);
      step = await world.tick(step);
    }
    const closed = (await alertEvents()).find(({ type }) => type === 'alert_closed');
    return closed?.type === 'alert_closed' ? closed.data.seen_seconds : undefined;
  };
  const seconds = await seenSeconds(0);
  expect(seconds).toBeGreaterThan(0);
  const difference = (await seenSeconds(3600))! - seconds!;
  expect(difference).toBeLessThanOrEqual(0);
  expect(difference).toBeGreaterThanOrEqual(-20);
});

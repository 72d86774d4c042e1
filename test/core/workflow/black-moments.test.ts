import { expect, test } from 'vitest';
import { VisionError } from '../../../core/vision-errors.ts';
import { ago, black, quiet, tick, visitor } from '../../support/watches/scanned-watch.ts';
import {
  alertEvents,
  createWatch,
  eventTypes,
  run,
  stored,
  watchId,
  world,
} from '../../support/watches/watch-world.ts';

const shown = async () => {
  const events = await world.c.watches.events(watchId, 0, 100, world.clock.now);
  return events.flatMap((event) => (event.type === 'progress' ? [event.data] : [])).at(-1);
};

test('an alert opens at its own time, while the watch counts the picture as black', async () => {
  const clear = await run(await createWatch(), 1);
  world.script.black.push(true);
  const after = await tick(clear, [...visitor(8, 6), ...black(4, 2)], [true, true], true);
  expect(await alertEvents()).toMatchObject([{ type: 'alert_opened', data: { opened_at: ago(6) } }]);
  expect(world.script.verdicts).toEqual([]);
  expect(await shown()).toMatchObject({
    picture: 'black',
    moments_judged: 2,
    prefilter_skipped: false,
    conditions: [{ triggered: null, state: 'open' }],
  });
  expect((await stored()).sight).toMatchObject({ stream_trouble: { reason: 'black' } });
  // The black picture is no reference for motion.
  expect(after.capture.motion).toBe('skipped');
  world.script.black.push(true);
  await tick(after, black(8, 6, 4, 2), [], true);
  expect(await eventTypes()).toEqual(['alert_opened']);
  expect(await shown()).toMatchObject({ picture: 'black', prefilter_skipped: true });
  const [hour] = await world.c.watches.hours(watchId, new Date(0), new Date('2100-01-01'));
  expect(hour?.counts).toMatchObject({ checks: 2, verdicts: 3, black: 1, skipped: 1 });
});

test('one moment that holds waits for the next check of the interval, since a black picture confirms nothing', async () => {
  const clear = await run(await createWatch(), 1);
  world.script.black.push(true, true);
  const pending = await tick(clear, [...visitor(6), ...black(4, 2)], [true], true);
  expect(Date.parse(pending.wait_until) - world.clock.now.getTime()).toBe(10_000);
  const dark = await tick(pending, black(8, 6, 4, 2), [], true);
  expect(Date.parse(dark.wait_until) - world.clock.now.getTime()).toBe(10_000);
  await tick(dark, black(8), [true], true);
  expect(await alertEvents()).toMatchObject([{ type: 'alert_opened', data: { opened_at: ago(0) } }]);
});

test('the next picture with light is judged without motion, and so closes the alert', async () => {
  let step = await run(await createWatch(), 1);
  world.script.black.push(true, true);
  step = await tick(step, [...visitor(8, 6), ...black(4, 2)], [true, true], true);
  step = await tick(step, black(8, 6, 4, 2), [], true);
  step = await tick(step, quiet(4, 2), [false]);
  await tick(step, quiet(8, 6, 4, 2), [false]);
  expect(world.script.verdicts).toEqual([]);
  expect(await eventTypes()).toEqual(['alert_opened', 'alert_closed']);
});

test('its moments are judged with the next scan if the model fails', async () => {
  const clear = await run(await createWatch(), 1);
  const failure = new VisionError('The model failed');
  world.script.black.push(true, true);
  world.script.verdicts.push(failure, failure);
  const failed = await tick(clear, visitor(6, 4), [], true);
  expect((await stored()).next).toMatchObject({ rescans: true });
  await tick(failed, visitor(16, 14), [true, true], true);
  expect(await alertEvents()).toMatchObject([{ type: 'alert_opened', data: { opened_at: ago(14) } }]);
});

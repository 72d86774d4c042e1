import { beforeEach, expect, test } from 'vitest';
import { createHttpCaller } from '../../support/api/http-caller.ts';
import { createWorld, type World } from '../../support/world.ts';

let world: World;
let call: Awaited<ReturnType<typeof createHttpCaller>>;
beforeEach(async () => {
  world = createWorld();
  call = await createHttpCaller(world);
});

/** Lets a watch judge pictures, an interval apart, and returns for each whether a true review of it is a miss. */
async function missedBy(verdicts: boolean[], fields: object) {
  const condition = { condition_id: 'person', condition: 'A person is there', ...fields };
  const stream = 'https://camera.example/live.m3u8';
  const request = { name: 'Gate', stream_url: stream, memory_days: 3, enable_prefilter: false };
  const { body } = await call('POST', '/watches', { ...request, look_back: false, conditions: [condition] });
  let step = await world.begin({ run_id: body.watch_id, generation: 0 });
  for (const verdict of verdicts) {
    world.script.verdicts.push(verdict);
    step = await world.tick(step);
  }
  const { moments } = (await call('GET', '/moments')).body;
  const missed: boolean[] = [];
  for (const { moment_id: id } of moments.toReversed()) {
    const { reviews } = (await call('POST', `/moments/${id}/review`, { condition_id: 'person', holds: true }))
      .body;
    missed.push(reviews[0].missed);
  }
  return missed;
}

const confirmed = { checks_to_open: 2, checks_considered: 2, checks_to_close: 1, close_after_seconds: 0 };

test.each([
  ['the pictures that confirm an alert', [false, true, true], confirmed, [true, false, false]],
  ['a picture that nothing confirmed', [true, false, true, true], confirmed, [true, true, false, false]],
  [
    'the begin of a stay that opened an alert after a time',
    [true, true, true, true, true],
    { ...confirmed, checks_to_open: 1, checks_considered: 1, open_after_seconds: 25 },
    [false, false, false, false, false],
  ],
])('a true review of %s is a miss only without an alert of its visit', async (_, verdicts, rules, missed) => {
  expect(await missedBy(verdicts, rules)).toEqual(missed);
});

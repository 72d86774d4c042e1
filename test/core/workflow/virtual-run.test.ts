import { expect, test } from 'vitest';
import { createWatch, newWatch, watchId, world } from '../../support/watches/watch-world.ts';
import { start } from '../../contract/records.ts';
import { Random } from '../../simulation/random.ts';
import { VisitedCamera } from '../../simulation/visited-camera.ts';
import { createVisitedWatch } from '../../simulation/visited-watch.ts';
import { judgingEach } from '../../support/scripted-model.ts';

const options = { budget: { model_calls_per_day: 300, usd_per_day: null } };
const ticks = 260;

/** Camera with a visit in each minute, and an outage. */
function openCamera() {
  const begin = start.getTime();
  const camera = new VisitedCamera({ keyFrameMs: 2000, segmentMs: 2000 }, begin - 3_600_000);
  for (let from = begin + 31_000; from < begin + 3_600_000; from += 60_000)
    camera.visits.push({ from, to: from + 9000, share: 0.3, isOther: false });
  camera.troubles.push({ kind: 'gone', from: begin + 700_000, to: begin + 800_000 });
  return camera;
}

test('a watch in memory has the events, the time and the budget of one in a service, through its hand-overs', async () => {
  const virtual = createVisitedWatch(newWatch(options), openCamera(), new Random(3));
  let step = await virtual.run.begin();
  for (let tick = 0; tick < ticks; tick += 1) step = await virtual.tick(step);

  const camera = openCamera();
  const random = new Random(3);
  let served = await createWatch(options);
  const { c, clock } = world;
  const pass = (least: number, most: number) => {
    clock.now = new Date(clock.now.getTime() + random.integer(least, most));
    return clock.now.getTime();
  };
  c.compareMotion = camera.compare;
  c.modelPrice = null;
  c.streams.capture = async (request) => camera.capture(request, pass(50, 900));
  c.vision.judge = judgingEach(async ({ frame }) => ({
    triggered: camera.judge(frame, pass(100, 600)),
    explanation: '',
    tokens: { input_tokens: 1, output_tokens: 1 },
  }));
  for (let tick = 0; tick < ticks; tick += 1) {
    served = await world.tick(served);
    const run = await c.watches.get(watchId, clock.now);
    if (served.done) served = await world.begin({ run_id: watchId, generation: run!.generation });
  }

  const stored = await c.watches.get(watchId, clock.now);
  const own = virtual.run.read();
  const sight = { ...own.sight, last_frame: expect.anything() };
  expect(stored).toMatchObject({ ...own, published: expect.any(Number), sight });
  expect(own.generation).toBeGreaterThan(0);
  const events = virtual.changes.flatMap((change) => change.events);
  const types = events.map(({ type, timestamp }) => [type, timestamp]);
  const all = await c.watches.events(watchId, 0, 10_000, clock.now);
  expect(all.map(({ type, timestamp }) => [type, timestamp])).toEqual(types);
  expect(events.filter(({ type }) => type === 'alert_opened').length).toBeGreaterThan(5);
});

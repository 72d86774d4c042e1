import { beforeEach, expect, test } from 'vitest';
import { createDigest, createMonitor } from '../../support/create-jobs.ts';
import { createWorld, digestRequest, monitorRequest, type World } from '../../support/world.ts';

let world: World;
beforeEach(() => {
  world = createWorld();
  world.c.streamPhase = (url) => (url.includes('other') ? 8_004 : 2_750);
});

const monitor = async (url: string) => createMonitor(monitorRequest({ stream_url: url }), 'harbour', world.c);
const begin = (job: { run_id: string }) => world.begin({ run_id: job.run_id, generation: 0 });
const readPhase = (time: string) => Date.parse(time) % 10_000;

test('the first check of a monitor is immediate, and the next ones have the phase of its stream', async () => {
  let step = await begin(await monitor('https://example.com/live.m3u8'));
  expect(Date.parse(step.wait_until)).toBe(world.clock.now.getTime());
  const waits: number[] = [];
  for (let check = 0; check < 4; check += 1) {
    const checkedMs = Date.parse(step.wait_until);
    step = await world.tick(step);
    expect(readPhase(step.wait_until)).toBe(2750);
    waits.push(Date.parse(step.wait_until) - checkedMs);
  }
  expect(waits[0]).toBeGreaterThanOrEqual(5000);
  expect(waits[0]).toBeLessThanOrEqual(15_000);
  expect(waits.slice(1)).toEqual([10_000, 10_000, 10_000]);
});

test('a monitor and a digest of one stream wake up together, those of another stream do not', async () => {
  const one = await world.tick(await begin(await monitor('https://example.com/live.m3u8')));
  world.advance(3.3);
  const request = digestRequest({
    stream_url: 'https://example.com/live.m3u8',
    capture_interval_seconds: 10,
  });
  const same = await world.tick(await begin(await createDigest(request, 'harbour', world.c)));
  const other = await world.tick(await begin(await monitor('https://example.com/other.m3u8')));
  expect(readPhase(same.wait_until)).toBe(readPhase(one.wait_until));
  expect(readPhase(other.wait_until)).toBe(8004);
});

test('a job without a phase has a grid that starts with it', async () => {
  world.c.streamPhase = () => null;
  const old = await monitor('https://example.com/live.m3u8');
  const step = await world.tick(await begin(old));
  expect(Date.parse(step.wait_until) - world.clock.now.getTime()).toBe(10_000);
});

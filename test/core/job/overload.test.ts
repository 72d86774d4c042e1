import { beforeEach, expect, test } from 'vitest';
import { createIdempotently } from '../../../core/job/accept-job.ts';
import { freePace } from '../../../core/ports/pace.ts';
import { createMonitor } from '../../support/create-jobs.ts';
import { cancelJob } from '../../../core/job/end-job.ts';
import { getJob } from '../../../core/job/read-jobs.ts';
import { createWatch } from '../../../core/watch/create-watch.ts';
import { ServiceOverloadedError } from '../../../core/errors.ts';
import { watchRequestSchema } from '../../../core/requests/watches.ts';
import { createWorld, monitorRequest, type World } from '../../support/world.ts';

let world: World;
const overload = { retryAfter: undefined as number | undefined, stretch: 1 };
beforeEach(() => {
  world = createWorld();
  Object.assign(overload, { retryAfter: undefined, stretch: 1 });
  world.c.pace = {
    stretch: () => overload.stretch,
    retryAfterSeconds: () => overload.retryAfter,
    read: () => ({ ...freePace.read(), stretch: overload.stretch }),
  };
});

const monitor = () => createMonitor(monitorRequest(), 'harbour', world.c);
const watch = (key?: string) =>
  createWatch(
    watchRequestSchema.parse({
      name: 'Lock',
      stream_url: 'https://example.com/live.m3u8',
      conditions: [{ condition: 'a ship enters the lock' }],
    }),
    'harbour',
    world.c,
    { key },
  );
const keyed = (key: string) =>
  createIdempotently({ key, kind: 'monitor', request: monitorRequest() }, 'harbour', world.c, (idempotency) =>
    createMonitor(monitorRequest(), 'harbour', world.c, idempotency),
  );

test('an overload refuses new jobs and watches with the time of the next attempt, and takes no slot', async () => {
  overload.retryAfter = 30;
  for (const refused of [monitor(), watch(), keyed('new')])
    await expect(refused).rejects.toMatchObject({ code: 'SERVICE_OVERLOADED', retryAfterSeconds: 30 });
  await expect(monitor()).rejects.toThrow(ServiceOverloadedError);
  overload.retryAfter = undefined;
  for (let job = 0; job < 10; job += 1) await monitor();
});

test('an overload refuses neither replays nor reads nor cancellations', async () => {
  const job = await keyed('known');
  const created = await watch('known watch');
  overload.retryAfter = 30;
  expect((await keyed('known')).run_id).toBe(job.run_id);
  expect((await watch('known watch')).run_id).toBe(created.run_id);
  expect((await getJob(job.run_id, 'harbour', world.c)).job.run_id).toBe(job.run_id);
  expect((await cancelJob(job.run_id, 'harbour', world.c)).status).toBe('stopped');
});

test('a stretched interval is a gap of the service from the time at which the check was due', async () => {
  const { run_id: jobId } = await monitor();
  overload.stretch = 3;
  let step = await world.begin({ run_id: jobId, generation: 0 });
  step = await world.tick(step);
  expect(Date.parse(step.wait_until) - world.clock.now.getTime()).toBe(30_000);
  const startedMs = world.clock.now.getTime();
  overload.stretch = 1;
  await world.tick(step);
  const { job } = await getJob(jobId, 'harbour', world.c);
  expect(job.sight.gaps).toEqual([
    {
      from: new Date(startedMs + 10_000).toISOString(),
      to: new Date(startedMs + 30_000).toISOString(),
      reason: 'service',
    },
  ]);
});

test('a factor below 2 leaves no gap', async () => {
  const { run_id: jobId } = await monitor();
  overload.stretch = 1.5;
  let step = await world.begin({ run_id: jobId, generation: 0 });
  for (let check = 0; check < 4; check += 1) step = await world.tick(step);
  expect((await getJob(jobId, 'harbour', world.c)).job.sight.gaps).toEqual([]);
});

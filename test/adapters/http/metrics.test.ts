import { beforeEach, expect, test } from 'vitest';
import { createMeter } from '../../../adapters/embedded/callers/usage.ts';
import { VisionError } from '../../../core/vision-errors.ts';
import { deliver } from '../../../core/delivery/deliver.ts';
import { createClientFor, internal, type ApiClient } from '../../support/api/api-client.ts';
import { createWorld, type World } from '../../support/world.ts';

let world: World;
let client: ApiClient;
beforeEach(async () => {
  world = createWorld();
  client = await createClientFor(world, ['jobs', 'internal']);
});

const metrics = async () => (await client.call('GET', '/metrics', undefined, internal)).body;

async function monitor(fields = {}) {
  const { body } = await client.call('POST', '/live-monitor', {
    stream_url: 'https://example.com/live.m3u8',
    condition: 'a ship enters the lock',
    input_mode: 'frames',
    ...fields,
  });
  return { jobId: body.job_id as string, step: await world.begin({ run_id: body.job_id, generation: 0 }) };
}

const cancel = (jobId: string) => client.call('DELETE', `/jobs/${jobId}`);

/** Three captures: one judged, one skipped, one without a usable model result. */
async function watchThreeTimes({ step }: Awaited<ReturnType<typeof monitor>>) {
  world.script.moved.push(true, false, true);
  world.script.verdicts.push(false, new VisionError('Try again.'));
  for (let tick = 0; tick < 3; tick += 1) step = await world.tick(step);
}

test('the metrics include a running job, with the same numbers after its end', async () => {
  const job = await monitor();
  await watchThreeTimes(job);
  const running = await metrics();
  expect(running).toMatchObject({
    providers: { scripted: { calls: 2, errors: 1 } },
    jobs: { created: 1, completed: 0, failed: 0 },
    frames: { captured: 2, skipped_prefilter: 1 },
  });

  await cancel(job.jobId);

  expect(await metrics()).toEqual(running);
});

test('completed and failed jobs are counted by their status, and stopped jobs as neither', async () => {
  world.script.verdicts.push(true);
  const completed = await monitor();
  await world.tick(completed.step);
  const failed = await monitor();
  let { step } = failed;
  for (let missed = 0; missed < 5; missed += 1) {
    world.script.verdicts.push(new VisionError('Try again.'));
    step = await world.tick(step);
  }
  await cancel((await monitor()).jobId);
  await monitor();
  expect((await metrics()).jobs).toEqual({ created: 4, completed: 1, failed: 1 });
});

test('direct calls are counted: a frame per check, and a model call for each', async () => {
  const check = { stream_url: 'https://example.com/live.m3u8', condition: 'a ship' };
  expect((await client.call('POST', '/check-once', check)).status).toBe(200);
  world.script.verdicts.push(new VisionError('Try again.'));
  expect((await client.call('POST', '/check-once', check)).status).toBe(500);
  expect(await metrics()).toMatchObject({
    providers: { scripted: { calls: 2, errors: 1 } },
    jobs: { created: 0 },
    frames: { captured: 2, skipped_prefilter: 0 },
  });
});

test('deliveries are counted when they end, not per attempt, in agreement with the job', async () => {
  const { jobId } = await monitor({ webhook_url: 'https://example.com/hook' });
  await cancel(jobId);
  const [started, stopped] = world.queued.filter(({ run_id: queued }) => queued === jobId);
  world.script.webhooks.push({ status: 500 });
  await deliver(started!, world.c);
  expect((await metrics()).webhooks).toEqual({ sent: 0, failed: 0 });
  world.advance(5);
  await deliver({ ...started!, attempt: 1 }, world.c);
  world.script.webhooks.push({ status: 410 });
  await deliver(stopped!, world.c);
  await deliver(stopped!, world.c);
  expect((await metrics()).webhooks).toEqual({ sent: 1, failed: 1 });
  const { stats } = (await client.call('GET', `/jobs/${jobId}`)).body;
  expect(stats.webhook).toMatchObject({ delivered: 1, failed: 1, pending: 0 });
});

test("an event that is undelivered an hour after its job's end is counted as failed, although the job is not readable any more", async () => {
  const { jobId } = await monitor({ webhook_url: 'https://example.com/hook' });
  await cancel(jobId);
  world.advance(3601);
  expect((await client.call('GET', `/jobs/${jobId}`)).status).toBe(404);
  for (const message of world.queued) await deliver(message, world.c);
  expect(world.sent).toHaveLength(0);
  expect((await metrics()).webhooks).toEqual({ sent: 0, failed: 2 });
});

test('the counters restart with the process and exclude earlier work, also of running jobs', async () => {
  const ended = await monitor();
  await watchThreeTimes(ended);
  await cancel(ended.jobId);
  const running = await monitor();
  await watchThreeTimes(running);

  world.advance(60);
  const since = { startedAt: world.c.now(), jobsBefore: await world.c.jobs.usage() };
  world.c.meter = createMeter(since);
  expect(await metrics()).toEqual({
    started_at: since.startedAt.toISOString(),
    providers: { scripted: { calls: 0, errors: 0 } },
    jobs: { created: 0, completed: 0, failed: 0 },
    frames: { captured: 0, skipped_prefilter: 0 },
    webhooks: { sent: 0, failed: 0 },
    mails: { sent: 0, failed: 0 },
    media: null,
    moments: { dropped: 0 },
    searches: { started: 0, model_calls: 0, cost_usd: 0 },
    late: { checks: 0, seconds: 0, interval_factor: 1, blocked_seconds: 0, session_fallbacks: 0 },
    watches: {
      active: 0,
      off_schedule: 0,
      budget_exhausted: 0,
      stream_lost: 0,
      late: 0,
      unjudged: 0,
      destinations_failing: 0,
    },
  });

  await world.tick(await world.begin({ run_id: running.jobId, generation: 0 }));
  await monitor();
  expect(await metrics()).toMatchObject({ jobs: { created: 1 }, frames: { captured: 1 } });
});

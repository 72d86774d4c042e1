import { Webhook } from 'standardwebhooks';
import { beforeEach, describe, expect, test } from 'vitest';
import { createMonitor } from '../../support/create-jobs.ts';
import { deliver } from '../../../core/delivery/deliver.ts';
import { TransientError } from '../../../core/errors.ts';
import { messageGroup } from '../../../core/records/delivery.ts';
import type { Counted } from '../../../core/ports/usage.ts';
import { cancelJob } from '../../../core/job/end-job.ts';
import { getJob } from '../../../core/job/read-jobs.ts';
import { jobDetail } from '../../../core/job/present-job.ts';
import { webhookKey, webhookMessage } from '../../contract/records.ts';
import { createWorld, monitorRequest, type World } from '../../support/world.ts';

let world: World;
beforeEach(() => {
  world = createWorld();
});

/** A monitor with a webhook that has triggered once: job_started, progress, watch_triggered, job_stopped. */
async function triggeredMonitor() {
  const job = await createMonitor(
    monitorRequest({
      stream_url: 'rtsp://viewer:secret@camera.test/yard',
      webhook_url: 'https://example.com/hook',
    }),
    'harbour',
    world.c,
  );
  world.script.verdicts.push(true);
  await world.tick(await world.begin({ run_id: job.run_id, generation: 0 }));
  return job.run_id;
}

const first = (jobId: string, sequence: number) => deliver(webhookMessage(jobId, sequence), world.c);
/** Handles the message of a delivery that has failed before. */
const retry = (jobId: string, sequence: number) =>
  deliver({ ...webhookMessage(jobId, sequence), attempt: 1 }, world.c);
const bodies = () => world.sent.map(({ body }) => JSON.parse(body));

describe('a webhook', () => {
  test('the webhook receives every event except progress, in order', async () => {
    const jobId = await triggeredMonitor();
    expect(world.queued.map(({ sequence }) => sequence)).toEqual([1, 3, 4]);
    for (const message of world.queued) await deliver(message, world.c);
    expect(bodies().map(({ type }) => type)).toEqual(['job_started', 'watch_triggered', 'job_stopped']);
    expect(bodies().map(({ data }) => data.job_id)).toEqual([jobId, jobId, jobId]);
  });

  test('the webhook body is exactly {type, timestamp, source_url, data}, with the image inlined and the password masked', async () => {
    await first(await triggeredMonitor(), 3);
    const [body] = bodies();
    expect(Object.keys(body)).toEqual(['type', 'timestamp', 'source_url', 'data']);
    expect(body.source_url).toBe('rtsp://viewer:***@camera.test/yard');
    expect(Buffer.from(body.data.frame_b64, 'base64').subarray(0, 2)).toEqual(Buffer.from([255, 216]));
    expect(body.data).toMatchObject({
      sequence: 3,
      condition: 'a ship enters the lock',
      triggered: true,
      prefilter_skipped: false,
    });
    expect(body.data).not.toHaveProperty('frame_key');
  });

  test('a webhook that refuses the size of an image gets the event without it, and an event without one is not repeated', async () => {
    const jobId = await triggeredMonitor();
    const refused = { status: 413 };
    world.script.webhooks.push(refused, {}, { status: null, isBroken: true }, {}, refused);
    await first(jobId, 3);
    expect(bodies().map(({ data }) => data.frame_b64 === null)).toEqual([false, true]);
    const delivery = await world.c.deliveries.get(webhookKey(jobId, 3));
    expect(delivery).toMatchObject({ state: 'delivered', attempts: [{ status: 204 }] });
    const other = await triggeredMonitor();
    await first(other, 3);
    await first(other, 4);
    expect(world.sent).toHaveLength(5);
  });

  test("the webhook of a job's end carries the fields of the contract", async () => {
    await first(await triggeredMonitor(), 4);
    expect(bodies()[0].data).toMatchObject({
      status: 'completed',
      reason: 'condition_triggered',
      checks_performed: 1,
      triggers_fired: 1,
      frames_skipped: 0,
      auto_stopped: false,
      watch_duration_seconds: expect.any(Number),
    });
  });

  test('a webhook verifies with the public library and the secret of its caller', async () => {
    await first(await triggeredMonitor(), 3);
    const [{ body, headers }] = world.sent as [(typeof world.sent)[number]];
    const webhook = new Webhook(await world.c.signer.secret('harbour'));
    // The library refuses timestamps far from the real clock: that is no matter here.
    expect(headers['webhook-signature']).toBe(
      webhook.sign(headers['webhook-id'] ?? '', new Date(Number(headers['webhook-timestamp']) * 1000), body),
    );
    expect(headers['webhook-signature']).not.toBe(
      new Webhook(await world.c.signer.secret('other')).sign(
        headers['webhook-id'] ?? '',
        world.c.now(),
        body,
      ),
    );
  });
});

describe('a receiver that fails', () => {
  test('twice gets the event on the third attempt, with the same webhook-id', async () => {
    const jobId = await triggeredMonitor();
    world.script.webhooks.push({ status: 500 }, { status: null, error: 'timed out' });
    await first(jobId, 3);
    world.advance(5);
    expect(await retry(jobId, 3)).toEqual({ kind: 'again', afterSeconds: 25 });
    world.advance(25);
    expect(await retry(jobId, 3)).toEqual({ kind: 'done' });
    expect(new Set(world.sent.map(({ headers }) => headers['webhook-id'])).size).toBe(1);
    expect(await world.c.deliveries.get(webhookKey(jobId, 3))).toMatchObject({
      state: 'delivered',
      attempts: [{ status: 500 }, { status: null, error: 'timed out' }, { status: 204 }],
    });
  });

  test('a receiver that failed gets no request before its next attempt is due', async () => {
    const jobId = await triggeredMonitor();
    world.script.webhooks.push({ status: 500 });
    await first(jobId, 3);
    expect(await retry(jobId, 3)).toEqual({ kind: 'again', afterSeconds: 5 });
    expect(world.sent).toHaveLength(1);
  });

  test('a failed first attempt moves to a message group of its own and completes its message', async () => {
    const jobId = await triggeredMonitor();
    world.queued.length = 0;
    world.script.webhooks.push({ status: 400 });
    expect(await first(jobId, 1)).toEqual({ kind: 'done' });
    expect(world.queued).toEqual([{ ...webhookMessage(jobId, 1), attempt: 1 }]);
    expect(new Set([...world.queued, { ...world.queued[0]!, attempt: 0 }].map(messageGroup))).toEqual(
      new Set([`${jobId}:webhook:log`, `${jobId}:webhook:1`]),
    );
  });

  test('a repeated first message of a delivery that has failed attempts moves without an attempt', async () => {
    const jobId = await triggeredMonitor();
    world.script.webhooks.push({ status: 400 }, { status: 400 });
    await first(jobId, 1);
    world.advance(5);
    await retry(jobId, 1);
    world.queued.length = 0;
    const old = webhookMessage(jobId, 1);
    expect(await deliver(old, world.c)).toEqual({ kind: 'done' });
    expect(world.sent).toHaveLength(2);
    expect(world.queued).toEqual([{ ...webhookMessage(jobId, 1), attempt: 2 }]);
  });

  test('a defect moves the delivery to a group of its own, a transient error keeps its place', async () => {
    const jobId = await triggeredMonitor();
    world.queued.length = 0;
    const failing = (thrown: Error) => ({
      ...world.c,
      destinations: { ...world.c.destinations, sendEnvelope: async () => Promise.reject(thrown) },
    });
    const message = webhookMessage(jobId, 1);
    await expect(deliver(message, failing(new TransientError('throttled')))).rejects.toThrow(TransientError);
    expect(world.queued).toEqual([]);
    expect(await deliver(message, failing(new Error('defect')))).toEqual({ kind: 'done' });
    expect(world.queued).toEqual([{ ...message, attempt: 1 }]);
    await expect(deliver({ ...message, attempt: 1 }, failing(new Error('defect')))).rejects.toThrow('defect');
  });

  test('an attempt counts the time since its event or its planned start as lateness', async () => {
    const jobId = await triggeredMonitor();
    const late: number[] = [];
    const counting = {
      ...world.c,
      meter: {
        ...world.c.meter,
        count: async (counted: Counted) => {
          if (counted.kind === 'delivery_attempt') late.push(counted.lateSeconds);
        },
      },
    };
    world.script.webhooks.push({ status: 500 });
    world.advance(7);
    await deliver(webhookMessage(jobId, 1), counting);
    world.advance(5 + 40);
    await deliver({ ...webhookMessage(jobId, 1), attempt: 1 }, counting);
    expect(late).toEqual([7, 40]);
  });

  test.each([-3600, -60])(
    'a receiver that failed gets its next attempt in time after the clock was set by %d s',
    async (seconds) => {
      const jobId = await triggeredMonitor();
      world.script.webhooks.push({ status: 500 });
      await first(jobId, 3);
      expect(await retry(jobId, 3)).toEqual({ kind: 'again', afterSeconds: 5 });
      world.advance(seconds);
      // The queue has waited five seconds by its own clock.
      world.advance(5);
      expect(await retry(jobId, 3)).toEqual({ kind: 'done' });
    },
  );

  test("four times is recorded, and shows in the job's detail", async () => {
    const jobId = await triggeredMonitor();
    world.script.webhooks.push({ status: 500 }, { status: 500 }, { status: 500 }, { status: 500 });
    await first(jobId, 3);
    for (const seconds of [5, 25, 90]) {
      world.advance(seconds);
      await retry(jobId, 3);
    }
    expect(world.sent).toHaveLength(4);
    expect(await retry(jobId, 3)).toEqual({ kind: 'done' });
    expect(world.sent).toHaveLength(4);
    const { stats } = jobDetail(await getJob(jobId, 'harbour', world.c), world.c.baseUrl, world.c.now());
    expect(stats).toMatchObject({
      webhook: { failed: 1, failures: [{ sequence: 3, attempts: 4, message: 'Failed to deliver webhook' }] },
    });
  });

  test('a receiver that responds with 410 gets no further events of the job', async () => {
    const jobId = await triggeredMonitor();
    world.script.webhooks.push({ status: 410 });
    for (const sequence of [1, 3, 4]) await first(jobId, sequence);
    expect(world.sent).toHaveLength(1);
    expect(await world.c.deliveries.get(webhookKey(jobId, 4))).toMatchObject({
      state: 'failed',
      error: expect.stringContaining('410'),
    });
  });

  test('the newest attempt decides: a 410 to an older event ends the deliveries, and a successful resend begins them again', async () => {
    const jobId = await triggeredMonitor();
    world.script.webhooks.push({ status: 500 });
    await first(jobId, 1);
    await first(jobId, 3);
    expect(await world.c.deliveries.get(webhookKey(jobId, 3))).toMatchObject({ state: 'delivered' });
    world.script.webhooks.push({ status: 410 });
    world.advance(5);
    await retry(jobId, 1);
    await first(jobId, 4);
    expect(world.sent).toHaveLength(3);
    expect(await world.c.deliveries.get(webhookKey(jobId, 4))).toMatchObject({ state: 'failed' });

    await deliver({ ...webhookMessage(jobId, 1), resend: 1 }, world.c);
    await deliver({ ...webhookMessage(jobId, 4), resend: 1 }, world.c);
    const delivered = await world.c.deliveries.list({ run: 'job', run_id: jobId }, 0, 10);
    expect(delivered.map(({ state }) => state)).toEqual(['delivered', 'delivered', 'delivered']);
    expect(await world.c.deliveries.state(webhookKey(jobId, 0))).toMatchObject({ disabled: null });
  });

  test('a delivery ends as failed an hour after the end of its job', async () => {
    const job = await createMonitor(
      monitorRequest({ webhook_url: 'https://example.com/hook' }),
      'harbour',
      createdFor(7200),
    );
    await cancelJob(job.run_id, 'harbour', createdFor(7200));
    world.advance(3601);
    expect(await first(job.run_id, 1)).toEqual({ kind: 'done' });
    expect(world.sent).toHaveLength(0);
    expect(await world.c.deliveries.get(webhookKey(job.run_id, 1))).toMatchObject({ state: 'failed' });
  });
});

test('a message that comes twice is delivered once', async () => {
  const jobId = await triggeredMonitor();
  await first(jobId, 1);
  await first(jobId, 1);
  expect(world.sent).toHaveLength(1);
});

function createdFor(retentionSeconds: number) {
  return { ...world.c, limits: { ...world.c.limits, retentionSeconds } };
}

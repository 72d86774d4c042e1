import { webhookKey, webhookMessage } from '../contract/records.ts';
import { beforeEach, expect, test } from 'vitest';
import { TransientError } from '../../core/errors.ts';
import { createMonitor } from '../support/create-jobs.ts';
import { cancelJob } from '../../core/job/end-job.ts';
import { createHandler } from '../../functions/deliver/handler.ts';
import { createWorld, monitorRequest, type World } from '../support/world.ts';
import type { DeliverFunctionDeps } from '../../functions/deliver/dependencies.ts';
import { createFifoQueue, sqsEvent } from './fifo-queue.ts';
import { during, lambdaContext } from './lambda-context.ts';

/** Jobs have no destinations: only `deliver` has both. */
const destinations = {} as Pick<DeliverFunctionDeps, 'destinations'>;
let world: World;
let queue: ReturnType<typeof createFifoQueue>;
let handler: ReturnType<typeof createHandler>;
beforeEach(() => {
  world = createWorld();
  queue = createFifoQueue(world.clock);
  world.c.queue = { send: async (message) => queue.send(message) };
  handler = createHandler({ ...world.c, ...destinations, postpone: queue.postpone, during });
});

/** Creates and cancels a job, which gives two events for its webhook. */
async function endedJob(host = 'receiver') {
  const webhook_url = `https://${host}.example/hook`;
  const { run_id } = await createMonitor(monitorRequest({ webhook_url }), 'harbour', world.c);
  await world.begin({ run_id, generation: 0 });
  await cancelJob(run_id, 'harbour', world.c);
  return run_id;
}

const sent = () =>
  world.sent.map(({ url, body }) => `${new URL(url).hostname.split('.')[0]} ${JSON.parse(body).type}`);

test('deliver sends the events of a job in order and empties the queue', async () => {
  await endedJob();

  await queue.pass(0, handler);

  expect(sent()).toEqual(['receiver job_started', 'receiver job_stopped']);
  expect(queue.waiting()).toBe(0);
});

test('a failed first attempt delays no other event of its job or of another', async () => {
  const { send } = world.http;
  world.http.send = async (request) => {
    const failing = request.url.includes('slow') && world.clock.now.getTime() < failsUntilMs;
    return { ...(await send(request)), ...(failing && { status: 503 }) };
  };
  const failsUntilMs = world.clock.now.getTime() + 20_000;
  handler = createHandler({ ...world.c, ...destinations, postpone: queue.postpone, during });
  await endedJob('slow');
  await endedJob('quick');

  await queue.pass(4, handler);
  expect(sent()).toEqual(['slow job_started', 'quick job_started', 'slow job_stopped', 'quick job_stopped']);

  await queue.pass(40, handler);
  expect(sent().slice(4).toSorted()).toEqual([
    'slow job_started',
    'slow job_started',
    'slow job_stopped',
    'slow job_stopped',
  ]);
  expect(queue.waiting()).toBe(0);
});

test('deliver makes attempts at 0, 5, 30 and 120 s and then records the failure', async () => {
  const jobId = await endedJob();
  const began = world.clock.now.getTime();
  const failed = { status: 500 };
  world.script.webhooks.push(failed, {}, failed, failed, failed);

  await queue.pass(130, handler);

  const delivery = await world.c.deliveries.get(webhookKey(jobId, 1));
  expect(delivery?.attempts.map(({ at }) => (Date.parse(at) - began) / 1000)).toEqual([0, 5, 30, 120]);
  expect(delivery).toMatchObject({ state: 'failed' });
  expect(sent().indexOf('receiver job_stopped')).toBe(1);
  expect(queue.dead).toEqual([]);
});

test('deliver retries after a transient error with growing delays, in the order of the log', async () => {
  await endedJob();
  const { event } = world.c.runs;
  const triedAt: number[] = [];
  const began = world.clock.now.getTime();
  world.c.runs = {
    ...world.c.runs,
    event: async (...which) => {
      triedAt.push((world.clock.now.getTime() - began) / 1000);
      if (triedAt.length < 5) throw new TransientError('throttled');
      return event(...which);
    },
  };
  handler = createHandler({ ...world.c, ...destinations, postpone: queue.postpone, during });

  await queue.pass(20, handler);

  expect(triedAt.slice(0, 5)).toEqual([0, 1, 3, 7, 15]);
  expect(sent()).toEqual(['receiver job_started', 'receiver job_stopped']);
});

test('an unreadable message moves to the dead-letter queue, and later messages are delivered', async () => {
  const jobId = await endedJob();
  const poisoned = createFifoQueue(world.clock);
  poisoned.sendText('{"job_id":', jobId);
  poisoned.send(webhookMessage(jobId, 1));
  handler = createHandler({ ...world.c, ...destinations, postpone: poisoned.postpone, during });

  await poisoned.pass(3000, handler);

  expect(poisoned.dead).toEqual(['{"job_id":']);
  expect(sent()).toEqual(['receiver job_started']);
  expect(poisoned.waiting()).toBe(0);
});

test('deliver reports a retry even if it cannot set the visibility timeout, and the message returns', async () => {
  const jobId = await endedJob();
  world.script.webhooks.push({ status: 500 });
  const postpone = async () => Promise.reject(new Error('throttled'));
  const body = JSON.stringify({ ...webhookMessage(jobId, 1), attempt: 1 });
  const message = { id: 'm1', group: jobId, deduplication: 'd', body, received: 1 };

  const answer = await createHandler({ ...world.c, ...destinations, postpone, during })(
    sqsEvent(message, 'r1'),
    lambdaContext(),
  );

  expect(answer).toEqual({ batchItemFailures: [{ itemIdentifier: 'm1' }] });
});

import { randomUUID } from 'node:crypto';
import type { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { createRunStores } from '../../../../cli/service/open-stores.ts';
import { openDatabase } from '../../../../adapters/embedded/sqlite/database.ts';
import {
  createDeliveryQueue,
  type DeliveryHandler,
} from '../../../../adapters/embedded/queue/delivery-queue.ts';
import type { DeliveryOutcome } from '../../../../core/ports/delivery.ts';
import { describeDeliveryQueue } from '../../../contract/delivery-queue.contract.ts';
import type { DeliveryMessage } from '../../../../core/records/delivery.ts';
import { webhookMessage } from '../../../contract/records.ts';
import { newCreation } from '../../../contract/watch-records.ts';
import { createCollectedLog } from '../log/collected-log.ts';
import { createFakeTime } from '../fake-time.ts';

describeDeliveryQueue('The embedded queue', async () => {
  const { queue, time } = createQueue();
  return { queue, consume: (handler) => queue.consume(handler), pass: time.pass };
});

test('a message that is in flight when its process ends waits as after a failure, longer each time, and keeps its place', async () => {
  const { database, queue, time } = createQueue();
  const job = randomUUID();
  queue.consume(hang);
  await queue.send(message(job, 1));
  await queue.send(message(job, 2));
  await time.pass(0);
  for (const waitSeconds of [1, 2, 4, 8, 16, 32, 60]) {
    const next = createQueue({ database, startsAt: time.now() });
    const { handled, consume } = collecting(next.queue);
    consume(hang);
    await next.time.pass(waitSeconds - 0.001);
    expect(handled).toEqual([]);
    await next.time.pass(0.001);
    expect(handled).toEqual([message(job, 1)]);
    await time.pass(waitSeconds);
  }
  const last = createQueue({ database, startsAt: time.now() });
  const { handled, consume } = collecting(last.queue);
  consume(done);
  await last.time.pass(60);
  expect(handled).toEqual([message(job, 1), message(job, 2)]);
});

test('the next process keeps the delay of a postponed message', async () => {
  const { database, queue, time } = createQueue();
  const job = randomUUID();
  queue.consume(async () => ({ kind: 'again', afterSeconds: 120 }));
  await queue.send(message(job, 1));
  await time.pass(0);

  const next = createQueue({ database });
  const { handled, consume } = collecting(next.queue);
  consume(done);
  await next.time.pass(119);
  expect(handled).toEqual([]);
  await next.time.pass(1);
  expect(handled).toEqual([message(job, 1)]);
});

test('receivers that hang delay others only if they take all of the concurrency', async () => {
  const { queue, time } = createQueue({ concurrency: 3 });
  const hanging: string[] = [randomUUID(), randomUUID(), randomUUID()];
  const gate = Promise.withResolvers<DeliveryOutcome>();
  const { handled, consume } = collecting(queue);
  consume(({ run_id }: any) => (hanging.includes(run_id) ? gate.promise : done()));
  const others = [randomUUID(), randomUUID()];

  for (const job of hanging.slice(0, 2)) await queue.send(message(job, 1));
  await queue.send(message(others[0]!, 1));
  await time.pass(0);
  expect(handled.map(({ run_id }) => run_id)).toContain(others[0]);

  await queue.send(message(hanging[2]!, 1));
  await queue.send(message(others[1]!, 1));
  await time.pass(1);
  expect(handled.map(({ run_id }) => run_id)).not.toContain(others[1]);

  gate.resolve({ kind: 'done' });
  await time.pass(0);
  expect(handled.map(({ run_id }) => run_id)).toContain(others[1]);
});

test('the default concurrency leaves a place beside 63 receivers that hang', async () => {
  const { queue, time } = createQueue();
  const { handled, consume } = collecting(queue);
  const other = randomUUID();
  consume(({ run_id }: any) => (run_id === other ? done() : hang()));
  for (let count = 0; count < 63; count += 1) await queue.send(message(randomUUID(), 1));

  for (const sequence of [1, 2, 3]) await queue.send(message(other, sequence));
  await time.pass(0);

  expect(handled.filter(({ run_id }) => run_id === other)).toHaveLength(3);
});

test('a job with many messages alternates with other jobs', async () => {
  const { queue, time } = createQueue({ concurrency: 1 });
  const { handled, consume } = collecting(queue);
  const [busy, quiet] = [randomUUID(), randomUUID()];
  for (const sequence of [1, 2, 3, 4]) await queue.send(message(busy, sequence));
  await time.pass(1);
  await queue.send(message(quiet, 1));
  consume(done);
  await time.pass(0);

  expect(handled).toHaveLength(5);
  expect(handled.map(({ run_id }) => run_id).indexOf(quiet)).toBeGreaterThan(0);
});

test('a message is handled again if its handler exceeds the visibility, and the late result is dropped', async () => {
  const { queue, time, log } = createQueue({ visibilitySeconds: 60 });
  const gate = Promise.withResolvers<DeliveryOutcome>();
  let calls = 0;
  const { handled, consume } = collecting(queue);
  consume(() => ((calls += 1) === 1 ? gate.promise : hang()));
  const job = randomUUID();
  await queue.send(message(job, 1));
  await queue.send(message(job, 2));

  await time.pass(59);
  expect(handled).toHaveLength(1);
  await time.pass(2);
  expect(handled).toEqual([message(job, 1), message(job, 1)]);
  gate.resolve({ kind: 'done' });
  await time.pass(1);
  expect(handled).toHaveLength(2);
  expect(log.entries.map(({ level }) => level)).toEqual(['error']);
});

test('a handler that keeps throwing is called with growing delays of at most a minute', async () => {
  const { queue, time, log } = createQueue();
  const asked: number[] = [];
  const began = time.now().getTime();
  queue.consume(async () => {
    asked.push((time.now().getTime() - began) / 1_000);
    throw new Error('The handler broke');
  });
  await queue.send(message(randomUUID(), 1));

  await time.pass(200);

  expect(asked).toEqual([0, 1, 3, 7, 15, 31, 63, 123, 183]);
  expect(log.entries[0]?.fields).toMatchObject({ error: 'Error: The handler broke' });
});

test('the log of a failed message names a watch as such, by the id with which its group starts', async () => {
  const { queue, time, database, log } = createQueue();
  const watch = newCreation();
  await createRunStores(database, () => {}).watches.create(watch, time.now());
  queue.consume(async () => {
    throw new Error('The handler broke');
  });
  await queue.send({ ...message(watch.run_id, 1), run: 'watch' });
  await time.pass(0);
  expect(log.entries.map(({ message: text }) => text)).toEqual([
    `[WATCH:${watch.run_id.slice(0, 8)}] Delivery message failed, returned to the queue`,
  ]);
});

test('a message whose removal cannot be stored is handled again when the disk has space', async () => {
  const { queue, time, database, log } = createQueue();
  const job = randomUUID();
  await queue.send(message(job, 1));
  await queue.send(message(job, 2));
  const { handled, consume } = collecting(queue);
  consume(async () => {
    if (handled.length === 1) database.exec('PRAGMA query_only = ON');
    return { kind: 'done' };
  });

  await time.pass(0);
  expect(handled).toHaveLength(1);
  expect(log.entries.map(({ fields }) => fields?.['error'])).toEqual([
    expect.stringContaining('TransientError'),
    expect.stringContaining('TransientError'),
  ]);

  database.exec('PRAGMA query_only = OFF');
  await time.pass(1);
  expect(handled.map(({ sequence }) => sequence)).toEqual([1, 1, 2]);
});

test('no message reaches its handler while the disk is full, and the queue tries again at most every minute', async () => {
  const { queue, time, database, log } = createQueue();
  const { handled, consume } = collecting(queue);
  await queue.send(message(randomUUID(), 1));
  database.exec('PRAGMA query_only = ON');
  consume(done);

  await time.pass(3600);
  expect(handled).toEqual([]);
  expect(
    log.entries.filter(({ message: text }) => text.includes('returned to the queue')).length,
  ).toBeLessThan(70);

  database.exec('PRAGMA query_only = OFF');
  await time.pass(60);
  expect(handled).toHaveLength(1);
});

test('the queue does not poll: it has no timer without messages and one timer with one message', async () => {
  const { queue, time } = createQueue();
  queue.consume(async () => ({ kind: 'again', afterSeconds: 30 }));
  await time.pass(1);
  expect(time.timers.size).toBe(0);

  await queue.send(message(randomUUID(), 1));
  await queue.send(message(randomUUID(), 1));
  await time.pass(1);
  expect(time.timers.size).toBe(1);
});

test('a second consumer is rejected until the first has closed', async () => {
  const { queue } = createQueue();
  const first = queue.consume(done);
  expect(() => queue.consume(done)).toThrow('already has a consumer');

  await first.close();

  await queue.consume(done).close();
});

test('a duplicate is accepted after five minutes', async () => {
  const { queue, time, database } = createQueue();
  const remembered = () =>
    database.prepare('SELECT count(*) AS count FROM delivery_deduplication').get()?.['count'];
  for (let count = 0; count < 5; count += 1) await queue.send(message(randomUUID(), 1));
  expect(remembered()).toBe(5);

  await time.pass(300);
  await queue.send(message(randomUUID(), 1));

  expect(remembered()).toBe(1);
});

test('a delay stored by a clock that was an hour ahead is ignored', async () => {
  const ahead = createQueue({ startsAt: new Date('2026-03-01T13:00:00.000Z') });
  const job = randomUUID();
  ahead.queue.consume(async () => ({ kind: 'again', afterSeconds: 90 }));
  await ahead.queue.send(message(job, 1));
  await ahead.time.pass(0);

  const next = createQueue({ database: ahead.database, startsAt: new Date('2026-03-01T12:00:00.000Z') });
  const { handled, consume } = collecting(next.queue);
  consume(done);
  await next.queue.send(message(job, 2));
  await next.time.pass(0);

  expect(handled).toEqual([message(job, 1), message(job, 2)]);
});

test('a deduplication entry stored by a clock that was an hour ahead is ignored', async () => {
  const ahead = createQueue({ startsAt: new Date('2026-03-01T13:00:00.000Z') });
  const sent = message(randomUUID(), 1);
  await ahead.queue.send(sent);
  ahead.database.exec('DELETE FROM delivery_messages');

  const next = createQueue({ database: ahead.database, startsAt: new Date('2026-03-01T12:00:00.000Z') });
  const { handled, consume } = collecting(next.queue);
  consume(done);
  await next.queue.send(sent);
  await next.time.pass(0);

  expect(handled).toEqual([sent]);
});

const done = async (): Promise<DeliveryOutcome> => ({ kind: 'done' });
const hang = (): Promise<DeliveryOutcome> => new Promise(() => undefined);

function message(jobId: string, sequence: number) {
  return webhookMessage(jobId, sequence);
}

type QueueSetup = {
  database?: DatabaseSync;
  concurrency?: number;
  visibilitySeconds?: number;
  startsAt?: Date;
};

function createQueue({ startsAt, ...options }: QueueSetup = {}) {
  const time = createFakeTime(startsAt);
  const log = createCollectedLog();
  const database = options.database ?? openDatabase(':memory:');
  const queue = createDeliveryQueue({ ...options, database, now: time.now, setTimer: time.setTimer, log });
  return { queue, time, log, database };
}

function collecting(queue: ReturnType<typeof createDeliveryQueue>) {
  const handled: DeliveryMessage[] = [];
  const consume = (handler: DeliveryHandler) =>
    queue.consume((message) => {
      handled.push(message as DeliveryMessage);
      return handler(message, '');
    });
  return { handled, consume };
}

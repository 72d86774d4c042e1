import { webhookMessage } from './records.ts';
import { randomUUID } from 'node:crypto';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { DeliveryMessage } from '../../core/records/delivery.ts';
import { TransientError } from '../../core/errors.ts';
import type { DeliveryQueue } from '../../core/ports/delivery.ts';
import { withLostReplies } from './lost-replies.ts';

type Outcome = { kind: 'done' } | { kind: 'again'; afterSeconds: number };
type Handler = (message: any) => Promise<Outcome>;

/** Adapter with its consumer, and a clock that advances only on request. */
export type QueueUnderTest = {
  queue: DeliveryQueue;
  consume: (handler: Handler) => { close(): Promise<void> };
  /** Resolves when all due messages have been handled. */
  pass: (seconds: number) => Promise<void>;
};

/**
 * Contract of `DeliveryQueue`: SQS FIFO, with one message group per job and one per delivery that has failed. `make`
 * returns an empty queue.
 */
export function describeDeliveryQueue(name: string, make: () => Promise<QueueUnderTest>): void {
  describe(`${name} as a delivery queue`, () => {
    test('the messages of a job are handled in the order in which they were sent', async () => {
      const { queue, pass, consume } = await make();
      const { handled } = consuming({ consume }, done);
      const job = randomUUID();

      for (const sequence of [1, 2, 3, 5, 8]) await queue.send(message(job, sequence));
      await pass(0);

      expect(handled.map(({ sequence }) => sequence)).toEqual([1, 2, 3, 5, 8]);
      expect(handled[0]).toEqual(message(job, 1));
    });

    test('messages sent before the consumer starts are handled', async () => {
      const { queue, pass, consume } = await make();
      const job = randomUUID();
      await queue.send(message(job, 1));
      await queue.send(message(job, 2));

      const { handled } = consuming({ consume }, done);
      await pass(0);

      expect(handled.map(({ sequence }) => sequence)).toEqual([1, 2]);
    });

    test('the next message of a job waits until the previous one is done', async () => {
      const { queue, pass, consume } = await make();
      const gate = Promise.withResolvers<Outcome>();
      const job = randomUUID();
      const { handled } = consuming({ consume }, ({ sequence }) => (sequence === 1 ? gate.promise : done()));
      await queue.send(message(job, 1));
      await queue.send(message(job, 2));

      await pass(5);
      expect(handled).toHaveLength(1);

      gate.resolve({ kind: 'done' });
      await pass(0);
      expect(handled.map(({ sequence }) => sequence)).toEqual([1, 2]);
    });

    test('a job whose receiver hangs delays no other job', async () => {
      const { queue, pass, consume } = await make();
      const gate = Promise.withResolvers<Outcome>();
      const slow = randomUUID();
      const { handled } = consuming({ consume }, ({ run_id }) => (run_id === slow ? gate.promise : done()));
      const others = Array.from({ length: 20 }, () => randomUUID());
      await queue.send(message(slow, 1));
      for (const job of others) await queue.send(message(job, 1));

      await pass(1);

      expect(handled.map(({ run_id }) => run_id).toSorted()).toEqual([slow, ...others].toSorted());
      gate.resolve({ kind: 'done' });
    });

    test('a postponed message is handled after its delay, before the next message of its job', async () => {
      const { queue, pass, consume } = await make();
      let attempts = 0;
      const { handled } = consuming({ consume }, async ({ sequence }) => {
        if (sequence !== 1 || (attempts += 1) > 2) return { kind: 'done' };
        return { kind: 'again', afterSeconds: 30 };
      });
      const job = randomUUID();
      await queue.send(message(job, 1));
      await queue.send(message(job, 2));

      await pass(29);
      expect(handled).toHaveLength(1);
      await pass(1);
      expect(handled).toHaveLength(2);
      await pass(30);
      expect(handled.map(({ sequence }) => sequence)).toEqual([1, 1, 1, 2]);
    });

    test('a delivery that moved to a group of its own delays no message of its job', async () => {
      const { queue, pass, consume } = await make();
      const job = randomUUID();
      const { handled } = consuming({ consume }, async (moved) => {
        if (moved.sequence !== 1) return { kind: 'done' };
        if (moved.attempt > 0) return { kind: 'again', afterSeconds: 30 };
        await queue.send({ ...moved, attempt: 1 });
        return { kind: 'done' };
      });
      await queue.send(message(job, 1));
      await queue.send(message(job, 2));

      await pass(0);
      expect(handled).toHaveLength(3);
      expect(handled).toEqual(
        expect.arrayContaining([message(job, 1), message(job, 2), { ...message(job, 1), attempt: 1 }]),
      );

      await queue.send(message(job, 3));
      await pass(0);
      expect(handled.at(-1)).toEqual(message(job, 3));
      await pass(30);
      expect(handled.at(-1)).toEqual({ ...message(job, 1), attempt: 1 });
    });

    test('a message whose handler throws is handled again, before the next message of its job', async () => {
      const { queue, pass, consume } = await make();
      let attempts = 0;
      const { handled } = consuming({ consume }, async () => {
        if ((attempts += 1) < 3) throw new Error('The handler broke');
        return { kind: 'done' };
      });
      const job = randomUUID();
      await queue.send(message(job, 1));
      await queue.send(message(job, 2));

      await pass(600);

      expect(handled.map(({ sequence }) => sequence)).toEqual([1, 1, 1, 2]);
    });

    test('a message sent twice within five minutes is handled once, even if the first is done', async () => {
      const { queue, pass, consume } = await make();
      const { handled } = consuming({ consume }, done);
      const job = randomUUID();
      await queue.send(message(job, 1));
      await queue.send(message(job, 1));
      await pass(299);
      await queue.send(message(job, 1));
      await pass(0);
      expect(handled).toHaveLength(1);

      await pass(1);
      await queue.send(message(job, 1));
      await pass(0);
      expect(handled).toHaveLength(2);
    });

    test('a message whose send lost its reply can be sent again and is handled once', async () => {
      const { queue, pass, consume } = await make();
      const { handled } = consuming({ consume }, done);
      const losing = withLostReplies(queue);
      const job = randomUUID();

      await expect(losing.send(message(job, 1))).rejects.toThrow(TransientError);
      await losing.send(message(job, 1));
      await pass(0);

      expect(handled).toHaveLength(1);
    });

    test('a resend is a separate message', async () => {
      const { queue, pass, consume } = await make();
      const { handled } = consuming({ consume }, done);
      const job = randomUUID();
      await queue.send(message(job, 1));
      await queue.send({ ...message(job, 1), resend: 1 });
      await pass(0);

      expect(handled.map(({ resend }) => resend)).toEqual([0, 1]);
    });

    test('a consumer that closes waits for its handlers and leaves other messages to the next one', async () => {
      const { queue, pass, consume } = await make();
      const gate = Promise.withResolvers<Outcome>();
      const first = consuming({ consume }, () => gate.promise);
      const job = randomUUID();
      await queue.send(message(job, 1));
      await queue.send(message(job, 2));
      await pass(0);

      let isClosed = false;
      const closed = first.consumer.close().then(() => (isClosed = true));
      await pass(1);
      expect(isClosed).toBe(false);
      gate.resolve({ kind: 'done' });
      await closed;
      await queue.send(message(job, 3));
      await pass(1);
      expect(first.handled).toHaveLength(1);

      const second = consuming({ consume }, done);
      await pass(0);
      expect(second.handled.map(({ sequence }) => sequence)).toEqual([2, 3]);
    });
  });
}

const done = async (): Promise<Outcome> => ({ kind: 'done' });

function message(jobId: string, sequence: number): DeliveryMessage {
  return webhookMessage(jobId, sequence);
}

function consuming({ consume }: Pick<QueueUnderTest, 'consume'>, handler: Handler) {
  const handled: DeliveryMessage[] = [];
  const consumer = consume((message) => {
    handled.push(message);
    return handler(message);
  });
  onTestFinished(() => consumer.close());
  return { handled, consumer };
}

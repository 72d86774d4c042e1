import type { DatabaseSync } from 'node:sqlite';
import type { DeliveryQueue } from '../../core/ports/delivery.ts';
import type { Log } from '../../core/ports/log.ts';
import { createDeliveryMessageTable } from './delivery-message-table.ts';
import { startDeliveryConsumer, type DeliveryConsumer } from './delivery-consumer.ts';
import type { DeliveryHandler } from './delivery-turn.ts';
import type { SetTimer } from '../timer.ts';

export type { DeliveryHandler, DeliveryOutcome } from './delivery-turn.ts';

export type EmbeddedDeliveryQueue = DeliveryQueue & {
  /** One consumer at a time. What an earlier process had in flight is handed out again at once. Throws `TransientError`. */
  consume(handler: DeliveryHandler): Pick<DeliveryConsumer, 'close'>;
};

export type DeliveryQueueOptions = {
  database: DatabaseSync;
  /** Never goes back: `steady-clock.ts`. */
  now: () => Date;
  setTimer: SetTimer;
  log: Log;
  /** How many jobs' messages are in flight at once; each waits at most for a receiver's 30 s. */
  concurrency?: number;
  /** How long a handler may take before its message is handed out again; longer than any receiver is waited for. */
  visibilitySeconds?: number;
};

/** A durable queue that behaves as SQS FIFO with one group a job, batch size 1. */
export function createDeliveryQueue(options: DeliveryQueueOptions): EmbeddedDeliveryQueue {
  const messages = createDeliveryMessageTable(options.database);
  let consumer: DeliveryConsumer | undefined;
  return {
    send: async (message) => {
      if (messages.add(message, options.now())) consumer?.wake(message.job_id);
    },
    consume: (handler) => {
      if (consumer !== undefined) throw new Error('The delivery queue has a consumer already');
      const started = startDeliveryConsumer({
        messages,
        handler,
        now: options.now,
        setTimer: options.setTimer,
        log: options.log,
        concurrency: options.concurrency ?? 64,
        visibilityMs: (options.visibilitySeconds ?? 120) * 1_000,
      });
      consumer = started;
      return {
        close: async () => {
          await started.close();
          consumer = undefined;
        },
      };
    },
  };
}

import type { DatabaseSync } from 'node:sqlite';
import { messageGroup } from '../../../core/records/delivery.ts';
import type { DeliveryQueue } from '../../../core/ports/delivery.ts';
import type { Log } from '../../../core/ports/log.ts';
import { createRunLog } from '../runs/run-log.ts';
import { createDeliveryMessageTable } from './delivery-message-table.ts';
import { startDeliveryConsumer, type DeliveryConsumer } from './delivery-consumer.ts';
import type { DeliveryHandler } from './delivery-consumer.ts';
import { rules } from '../../../core/rules.ts';
import { createFairTurns } from '../load/fair-turns.ts';
import type { SetTimer } from '../../../core/time-limit.ts';

export type { DeliveryHandler } from './delivery-consumer.ts';

export type EmbeddedDeliveryQueue = DeliveryQueue & {
  /**
   * Starts the only consumer; messages that were in flight when an earlier process ended are handled again, each after the wait of a failure.
   * Throws `TransientError`, and `Error` if a consumer is running.
   */
  consume(handler: DeliveryHandler): Pick<DeliveryConsumer, 'close'>;
};

export type DeliveryQueueOptions = {
  database: DatabaseSync;
  /** Monotonic time (`createSteadyClock`). */
  now: () => Date;
  setTimer: SetTimer;
  log: Log;
  /** Maximum messages in flight, default 64, and some for callers that have none; each waits at most 30 s for a receiver. */
  concurrency?: number;
  /**
   * Time limit of a handler, in seconds, default `maxAttemptSeconds`; longer than the time limit of a receiver. After it, the
   * message is handled again.
   */
  visibilitySeconds?: number;
};

/** Creates a durable queue that behaves like SQS FIFO with batch size 1. */
export function createDeliveryQueue(options: DeliveryQueueOptions): EmbeddedDeliveryQueue {
  const messages = createDeliveryMessageTable(options.database);
  const { now, setTimer, concurrency = 64 } = options;
  const findRun = options.database.prepare('SELECT caller FROM runs WHERE run_id = ?');
  let consumer: DeliveryConsumer | undefined;
  return {
    send: async (message) => {
      if (messages.add(message, now())) consumer?.wake(messageGroup(message));
    },
    consume: (handler) => {
      if (consumer !== undefined) throw new Error('The delivery queue already has a consumer');
      const started = startDeliveryConsumer({
        messages,
        handler,
        now,
        setTimer,
        log: createRunLog(options.database, options.log),
        turns: createFairTurns({
          max: concurrency,
          reserved: Math.ceil(concurrency / 8),
          elapsedMs: () => now().getTime(),
          setTimer,
        }),
        findCaller: (runId) => String(findRun.get(runId)?.['caller'] ?? ''),
        visibilityMs: (options.visibilitySeconds ?? rules.maxAttemptSeconds) * 1_000,
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

import type { DatabaseSync } from 'node:sqlite';
import type { DeliveryOutcome, DeliveryQueue } from '../../../core/ports/delivery.ts';
import type { Log } from '../../../core/ports/observability.ts';
import type { StreamTurns } from '../../../core/ports/stream-capturer.ts';
import {
  messageGroup,
  type QueueMessage,
  deduplicationId,
  queueMessageSchema,
} from '../../../core/records/delivery.ts';
import { rules } from '../../../core/rules.ts';
import { ageSeconds } from '../../../core/time.ts';
import { waitAtMost, type SetTimer } from '../../../core/time-limit.ts';
import { createFairTurns } from '../load/fair-turns.ts';
import { createRunLog } from '../runs/run-store.ts';
import { z } from 'zod';
import type { Row } from '../sqlite/record.ts';
import { groupCommits } from '../sqlite/group-commit.ts';
import { withoutFlush, withStorageErrors } from '../sqlite/transaction.ts';

/** Handler of one message. If it throws, the message is handled again after 1, 2, 4, … 60 s. */
export type DeliveryHandler = (message: QueueMessage, caller: string) => Promise<DeliveryOutcome>;

export type EmbeddedDeliveryQueue = DeliveryQueue & {
  /**
   * Starts the only consumer; messages that were in flight when an earlier process ended are handled again, each after
   * the wait of a failure. Throws `TransientError`, and `Error` if a consumer is running.
   */
  consume(handler: DeliveryHandler): Pick<DeliveryConsumer, 'close'>;
};

export type DeliveryQueueOptions = {
  database: DatabaseSync;
  /** Monotonic time (`createSteadyClock`). */
  now: () => Date;
  setTimer: SetTimer;
  log: Log;
  /**
   * Maximum messages in flight, default 64, and some for callers that have none; each waits at most 30 s for a
   * receiver.
   */
  concurrency?: number;
  /**
   * Time limit of a handler, in seconds, default `maxAttemptSeconds`; longer than the time limit of a receiver. After
   * it, the message is handled again.
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
      if (await messages.add(message, now())) consumer?.wake(messageGroup(message));
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

export type ConsumerOptions = {
  messages: DeliveryMessageTable;
  handler: DeliveryHandler;
  /** Monotonic time (`createSteadyClock`). */
  now: () => Date;
  setTimer: SetTimer;
  log: (runId: string) => Log;
  turns: StreamTurns;
  /** Returns for whom the messages of a job or watch are sent. */
  findCaller: (runId: string) => string;
  /** Time limit of a handler, in milliseconds. */
  visibilityMs: number;
};

export type DeliveryConsumer = ReturnType<typeof startDeliveryConsumer>;

/**
 * Maximum timer delay, in milliseconds: a timer does not fire when the clock is set forward, so the consumer checks
 * again.
 */
const maxTimerMs = 60_000;

/**
 * Maximum time that a message stays invisible, in seconds. After a longer wait of a delivery, which the delivery itself
 * keeps, its message waits again.
 */
const maxInvisibleSeconds = 300;

/** Handles one message per group at a time, fairly by caller. Wake-up times are in memory, messages in SQLite. */
export function startDeliveryConsumer(options: ConsumerOptions) {
  /** Time at which the head of each waiting group becomes visible, in epoch milliseconds. */
  const waiting = new Map<string, number>();
  const turns = new Map<string, Promise<void>>();
  /** Failures in a row by group, which also count if nothing can be stored. */
  const failures = new Map<string, number>();
  const closing = new AbortController();
  let cancelTimer: (() => void) | undefined;

  function dispatch(): void {
    cancelTimer?.();
    if (closing.signal.aborted) return;
    for (;;) {
      const first = earliest(waiting);
      if (first === undefined) return;
      const delayMs = first.visibleAt - options.now().getTime();
      if (delayMs > 0) {
        cancelTimer = options.setTimer(dispatch, Math.min(delayMs, maxTimerMs));
        return;
      }
      waiting.delete(first.group);
      turns.set(first.group, turn(first.group));
    }
  }

  async function turn(group: string): Promise<void> {
    const caller = options.findCaller(readRunId(group));
    const granted = await options.turns.take(caller);
    const failedUntil = closing.signal.aborted
      ? undefined
      : await handleNextMessage(options, { group, caller }, failures.get(group) ?? 0);
    granted?.end();
    if (failedUntil === undefined) failures.delete(group);
    else failures.set(group, (failures.get(group) ?? 0) + 1);
    // No `await` follows, so that a message sent now is either read as the next head or wakes its group.
    turns.delete(group);
    queueUp(group, failedUntil ?? readNextVisibility(options, group));
    dispatch();
  }

  function queueUp(group: string, visibleAt: number | undefined): void {
    if (visibleAt !== undefined) waiting.set(group, visibleAt);
  }

  for (const group of options.messages.groups()) queueUp(group, readNextVisibility(options, group));
  dispatch();

  return {
    /** Notifies the consumer of a new message of this group. */
    wake: (group: string): void => {
      // A group that is being handled reads its next message after its turn.
      if (turns.has(group) || waiting.has(group)) return;
      queueUp(group, readNextVisibility(options, group));
      dispatch();
    },
    /**
     * Stops taking messages and resolves when the handlers in flight have returned. A process can end earlier: the
     * next one handles their messages again, after the wait of a failure.
     */
    close: async (): Promise<void> => {
      closing.abort();
      cancelTimer?.();
      await Promise.all(turns.values());
    },
  };
}

/**
 * Returns the group that becomes visible first. Scans all entries: a machine has a few hundred groups with pending
 * deliveries.
 */
function earliest(waiting: Map<string, number>): { group: string; visibleAt: number } | undefined {
  let first: { group: string; visibleAt: number } | undefined;
  for (const [group, visibleAt] of waiting) {
    if (first === undefined || visibleAt < first.visibleAt) first = { group, visibleAt };
  }
  return first;
}

/**
 * Handles the head of a group. Returns the time until which the group waits after a failure, in epoch milliseconds.
 * Logs failures, never throws.
 */
async function handleNextMessage(
  options: ConsumerOptions,
  { group, caller }: { group: string; caller: string },
  failures: number,
): Promise<number | undefined> {
  let head: QueuedMessage | undefined;
  try {
    head = options.messages.head(group);
    if (head !== undefined) await handle(options, head, caller);
    return undefined;
  } catch (error) {
    logFailure(options, 'Delivery message failed, returned to the queue', group, error);
    return postponeFailed(options, group, head, failures);
  }
}

/**
 * Returns the time at which the head of a group becomes visible, in epoch milliseconds, or undefined if the group has
 * no message. Never throws.
 */
function readNextVisibility(options: ConsumerOptions, group: string): number | undefined {
  try {
    const head = options.messages.head(group);
    return head && computeVisibleMs(head, options.now());
  } catch (error) {
    logFailure(options, 'Delivery queue could not be read', group, error);
    return options.now().getTime() + backoffMs(0);
  }
}

/** Ignores a visibility time beyond the maximum: an earlier process wrote it with a clock that was ahead. */
function computeVisibleMs(head: QueuedMessage, now: Date): number {
  return ageSeconds(now, new Date(head.visibleAt)) > maxInvisibleSeconds ? now.getTime() : head.visibleAt;
}

async function handle(
  options: ConsumerOptions,
  { position, failures, message }: QueuedMessage,
  caller: string,
): Promise<void> {
  // Written first: on a full disk, a receiver would get the same event again and again, because its result cannot be
  // stored. If the process ends meanwhile, the next one waits as after a failure, since this message may be the reason.
  options.messages.postpone(position, options.now().getTime() + backoffMs(failures), failures + 1);
  const outcome = await withinVisibility(options, options.handler(message, caller));
  if (outcome.kind === 'done') options.messages.remove(position);
  else options.messages.postpone(position, inSeconds(options, outcome.afterSeconds), failures);
}

/** Rejects after the visibility time. A later result is dropped, because another turn has the message by then. */
function withinVisibility(
  { setTimer, visibilityMs }: ConsumerOptions,
  handled: Promise<DeliveryOutcome>,
): Promise<DeliveryOutcome> {
  return waitAtMost(
    visibilityMs,
    handled,
    () => {
      throw new Error('The handler took longer than its message stays invisible');
    },
    setTimer,
  );
}

function postponeFailed(
  options: ConsumerOptions,
  group: string,
  head: QueuedMessage | undefined,
  failuresInARow: number,
): number {
  const failures = Math.max(head?.failures ?? 0, failuresInARow);
  const until = options.now().getTime() + backoffMs(failures);
  try {
    if (head !== undefined) options.messages.postpone(head.position, until, failures + 1);
  } catch (error) {
    // The disk may be full: the stored message stays unchanged, and the group still waits.
    logFailure(options, 'Delivery queue could not be written', group, error);
  }
  return until;
}

function inSeconds({ now }: ConsumerOptions, seconds: number): number {
  return now().getTime() + Math.round(1000 * Math.min(seconds, maxInvisibleSeconds));
}

function backoffMs(failures: number): number {
  return Math.min(60_000, 1_000 * 2 ** failures);
}

/** Returns the start of a group: the id of the job or watch. */
function readRunId(group: string): string {
  return group.split(':', 1)[0] ?? group;
}

/** Logs a failure of a job or watch. */
function logFailure({ log }: ConsumerOptions, message: string, group: string, error: unknown): void {
  const reason = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  log(readRunId(group)).error(message, { error: reason });
}

type DeliveryMessageTable = ReturnType<typeof createDeliveryMessageTable>;

/** Queued message. `visibleAt` is in epoch milliseconds; `failures` counts handler calls that threw. */
type QueuedMessage = {
  position: number;
  visibleAt: number;
  failures: number;
  message: QueueMessage;
};

/** Creates the table of queued messages, ordered by group and send time; the first message of a group is its head. */
export function createDeliveryMessageTable(database: DatabaseSync) {
  const insert = database.prepare(`
    INSERT INTO delivery_messages (message_group, message, visible_at, failures)
    VALUES (?, ?, ?, 0)`);
  const forget = database.prepare(
    'DELETE FROM delivery_deduplication WHERE until <= :now OR until > :now + :longest',
  );
  const remember = database.prepare('INSERT OR IGNORE INTO delivery_deduplication VALUES (?, ?)');
  const head = database.prepare(
    'SELECT * FROM delivery_messages WHERE message_group = ? ORDER BY position LIMIT 1',
  );
  const heads = database.prepare('SELECT DISTINCT message_group FROM delivery_messages');
  const remove = database.prepare('DELETE FROM delivery_messages WHERE position = ?');
  const postpone = database.prepare(
    'UPDATE delivery_messages SET visible_at = ?, failures = ? WHERE position = ?',
  );

  const commitInGroup = groupCommits(database);
  return {
    /** Adds a message. Returns false if the same message was added within the last five minutes. */
    add: (message: QueueMessage, now: Date): Promise<boolean> =>
      commitInGroup(() => {
        // Removes expired entries, and entries more than five minutes ahead, which an earlier clock wrote.
        forget.run({ now: now.getTime(), longest: deduplicationMs });
        const isNew = remember.run(deduplicationId(message), now.getTime() + deduplicationMs).changes === 1;
        if (isNew) insert.run(messageGroup(message), JSON.stringify(message), now.getTime());
        return isNew;
      }),
    head: (group: string): QueuedMessage | undefined => withStorageErrors(() => readMessage(head.get(group))),
    groups: (): string[] =>
      withStorageErrors(() => groupsSchema.parse(heads.all()).map((row) => row.message_group)),
    /** Removes a message; after a power loss it may be handled again. */
    remove: (position: number): void => void withoutFlush(database, () => remove.run(position)),
    /** Hides a message until `visibleAt`, or less long after a power loss. Throws if nothing can be stored. */
    postpone: (position: number, visibleAt: number, failures: number): void =>
      void withoutFlush(database, () => postpone.run(visibleAt, failures, position)),
  };
}

/** Deduplication interval of SQS FIFO, counted from the first message. */
const deduplicationMs = 300_000;

function readMessage(row: Row | undefined): QueuedMessage | undefined {
  if (row === undefined) return undefined;
  const { position, visible_at: visibleAt, failures, message } = rowSchema.parse(row);
  return { position, visibleAt, failures, message: queueMessageSchema.parse(JSON.parse(message)) };
}

const rowSchema = z.object({
  position: z.int(),
  visible_at: z.int(),
  failures: z.int().nonnegative(),
  message: z.string(),
});
const groupsSchema = z.array(z.object({ message_group: z.string() }));

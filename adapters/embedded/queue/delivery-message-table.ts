import type { DatabaseSync } from 'node:sqlite';
import { z } from 'zod';
import {
  deduplicationId,
  queueMessageSchema,
  messageGroup,
  type QueueMessage,
} from '../../../core/records/delivery.ts';
import type { Row } from '../sqlite/record.ts';
import { groupCommits } from '../sqlite/group-commit.ts';
import { withoutFlush, withStorageErrors } from '../sqlite/transaction.ts';

export type DeliveryMessageTable = ReturnType<typeof createDeliveryMessageTable>;

/** Queued message. `visibleAt` is in epoch milliseconds; `failures` counts handler calls that threw. */
export type QueuedMessage = {
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

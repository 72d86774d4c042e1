import { z } from 'zod';
import { jobSchema, type Job } from '../../../core/records/job.ts';
import type { ItemRules } from './item-rules.ts';
import { itemKeys, shardFor } from './keys.ts';
import { readItem, readRecord } from './record.ts';
import { repairDue, type NewestWebhookEvent } from './repair-due.ts';
import type { Item, ItemKey } from './write.ts';

/** Stored job, with the columns that the store adds. */
export type StoredJob = {
  job: Job;
  hook: NewestWebhookEvent;
};

/**
 * Converts a job to its item: the record, and columns for conditions and indexes. `published` is only a column,
 * because it changes independently of the record. Undefined values are neither in the item nor in an index.
 */
export function toJobItem({ job, hook }: StoredJob, { ttls, hasBus }: ItemRules): ItemKey & Item {
  const due = repairDue(job, hook, hasBus);
  const expiresAt = job.expires_at ?? undefined;
  return {
    ...itemKeys.job(job.run_id),
    caller: job.caller,
    listed_at: `${job.created_at}#${job.run_id}`,
    status: job.status,
    policy: job.policy,
    sequence: job.sequence,
    published: job.published,
    version: job.version,
    hook_sequence: hook.sequence,
    hook_minute: hook.minute,
    repair_shard: due === undefined ? undefined : shardFor(job.run_id),
    repair_due: due,
    expires_at: expiresAt,
    ttl: expiresAt === undefined ? undefined : ttls.afterExpiry(new Date(expiresAt)),
    record: JSON.stringify(job),
  };
}

/** Converts an item to a job. Throws `StorageError` if it does not match its schema. */
export function readJobItem(item: Item): StoredJob {
  const { published, hook_sequence: sequence, hook_minute: minute } = readItem(columnsSchema, item);
  const job = readRecord(jobSchema, item);
  return { job: { ...job, published }, hook: { sequence, minute } };
}

const columnsSchema = z.object({
  published: z.int().nonnegative(),
  hook_sequence: z.int().nonnegative(),
  hook_minute: z.int(),
});

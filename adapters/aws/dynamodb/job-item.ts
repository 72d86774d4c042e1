import { z } from 'zod';
import { jobSchema, type Job } from '../../../core/job.ts';
import type { Kept } from './kept.ts';
import { keyOf, shardOf } from './keys.ts';
import { readItem, readRecord } from './record.ts';
import { repairDue, type NewestHook } from './repair-due.ts';
import type { Item, Key } from './write.ts';

/** A job as it is stored: with what the store adds to it. */
export type StoredJob = {
  job: Job;
  /** Counts changes, so that one which was built on what was read finds it unchanged. */
  version: number;
  hook: NewestHook;
};

/**
 * The item: the record, beside it what is a condition or a key of an index. `published` is only there, since events reach the queue while the
 * job goes on. What is undefined is not in the item, and so not in the index.
 */
export function toJobItem({ job, version, hook }: StoredJob, kept: Kept): Key & Item {
  const due = repairDue(job, hook);
  const expiresAt = job.expires_at ?? undefined;
  return {
    ...keyOf.job(job.job_id),
    caller: job.caller,
    listed_at: `${job.created_at}#${job.job_id}`,
    status: job.status,
    job_type: job.job_type,
    sequence: job.sequence,
    published: job.published,
    version,
    hook_sequence: hook.sequence,
    hook_minute: hook.minute,
    repair_shard: due === undefined ? undefined : shardOf(job.job_id),
    repair_due: due,
    expires_at: expiresAt,
    ttl: expiresAt === undefined ? undefined : kept.pastExpiry(new Date(expiresAt)),
    record: JSON.stringify(job),
  };
}

export function readJobItem(item: Item): StoredJob {
  const { published, version, hook_sequence: sequence, hook_minute: minute } = readItem(columnsSchema, item);
  const job = readRecord(jobSchema, item);
  return { job: { ...job, published }, version, hook: { sequence, minute } };
}

const columnsSchema = z.object({
  published: z.int().nonnegative(),
  version: z.int().nonnegative(),
  hook_sequence: z.int().nonnegative(),
  hook_minute: z.int(),
});

export function hasExpired({ expires_at: expiresAt }: Job, now: Date): boolean {
  return expiresAt !== null && Date.parse(expiresAt) <= now.getTime();
}

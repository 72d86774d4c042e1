import { z } from 'zod';
import { TransientError } from '../../../../core/errors.ts';
import type { CreationResult, IdempotencyRecord, JobCreation } from '../../../../core/ports/job-store.ts';
import { itemKeys } from '../table/keys.ts';
import type { ItemTtls } from '../table/item-ttls.ts';
import { readItem } from '../table/record.ts';
import type { RunDeps } from './run-commit.ts';
import { toItems } from './run-item.ts';
import { putSource } from './source-item.ts';
import { takeSlot } from './slots.ts';
import type { Table } from '../table/table.ts';
import { requireValidKey } from '../callers/key-store.ts';
import type { Check, Write } from '../table/write.ts';

const absent = 'attribute_not_exists(#pk)';

/**
 * Creates a job in one transaction: job and source if absent, a slot, the active entry, and the idempotency record.
 * Neither job nor source has a TTL until the commit that ends the job sets both.
 */
export async function createJob(
  { table, ...rules }: RunDeps,
  creation: JobCreation,
  now: Date,
): Promise<CreationResult> {
  const { job, source, slotLimit, keyHash, idempotency } = creation;
  const items = toItems(job, [], rules);
  const writes = [
    { kind: 'put', item: items.meta, condition: absent },
    takeSlot(job.caller, job.run_id, slotLimit),
    { kind: 'put', item: { ...itemKeys.active(job.run_id) } },
    { ...putSource(source), condition: absent },
    ...(idempotency
      ? [rememberRequest({ caller: job.caller, id: job.run_id }, idempotency, now, rules.ttls)]
      : []),
    { kind: 'put', item: items.run },
    ...(keyHash === undefined ? [] : [requireValidKey(keyHash, job.caller, now)]),
  ] satisfies (Write | Check)[];
  const result = await table.transact(writes);
  if (result.kind === 'written') return { kind: 'created' };

  // A repeated request is detected before the slots are checked: a replay needs no slot.
  const [isKnownJob, , , isKnownSource, isKnownKey] = result.refused;
  // Job and source of this request exist, and its response was lost. The job may have ended, so it takes no slot again.
  if (isKnownJob && isKnownSource) return { kind: 'created' };
  // A request that shares the reservation created the job, with a source of its own.
  if (isKnownJob) return { kind: 'replayed', jobId: job.run_id };
  if (idempotency && isKnownKey) return earlierRequest(table, job.caller, idempotency);
  return keyHash !== undefined && result.refused.at(-1) ? { kind: 'key_invalid' } : { kind: 'slots_full' };
}

/** Writes the idempotency record of what a request created, also over an expired one. */
export function rememberRequest(
  created: { caller: string; id: string },
  { key, requestHash, expiresAt }: IdempotencyRecord,
  now: Date,
  ttls: ItemTtls,
): Write {
  return {
    kind: 'put',
    item: {
      ...itemKeys.idempotency(created.caller, key),
      request_hash: requestHash,
      job_id: created.id,
      expires_at_ms: expiresAt.getTime(),
      ttl: ttls.afterExpiry(expiresAt),
    },
    condition: `${absent} OR #expires_at_ms <= :now`,
    values: { ':now': now.getTime() },
  };
}

async function earlierRequest(
  table: Table,
  caller: string,
  { key, requestHash }: IdempotencyRecord,
): Promise<CreationResult> {
  const earlier = await findIdempotencyRecord(table, caller, key);
  if (earlier === undefined) throw new TransientError('The idempotency record expired while it was read');
  if (earlier.request_hash !== requestHash) return { kind: 'key_reused' };
  return { kind: 'replayed', jobId: earlier.job_id };
}

/** Returns the idempotency record of a caller's key, also if it has expired. */
export async function findIdempotencyRecord(table: Table, caller: string, key: string) {
  const item = await table.get(itemKeys.idempotency(caller, key));
  return item && readItem(idempotencySchema, item);
}

const idempotencySchema = z.object({
  request_hash: z.string(),
  job_id: z.string(),
  expires_at_ms: z.int(),
});

import { z } from 'zod';
import { TransientError } from '../../../../core/errors.ts';
import {
  toReplay,
  type CreationResult,
  type IdempotencyRecord,
  type IdempotentRequest,
  type JobCreation,
} from '../../../../core/ports/runs.ts';
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

  const [isKnownJob, , , isKnownSource, isKnownKey = false] = result.refused;
  // Job and source of this request exist, and its response was lost. The job may have ended, so it takes no slot again.
  if (isKnownJob && isKnownSource) return { kind: 'created' };
  // A request that shares the reservation created the job, with a source of its own.
  if (isKnownJob) return { kind: 'replayed', runId: job.run_id };
  return readRefusal(table, { caller: job.caller, keyHash, idempotency }, isKnownKey, result.refused);
}

type Refused = {
  caller: string;
  keyHash?: string | undefined;
  idempotency?: IdempotencyRecord | undefined;
};

/**
 * Returns the result of a refused creation of a run that is new. `isKnownKey` is true if its idempotency key was used;
 * the last condition is that of its API key. A repeated request is detected before the limit: a replay needs no place.
 */
export async function readRefusal(
  table: Table,
  { caller, keyHash, idempotency }: Refused,
  isKnownKey: boolean,
  refused: readonly boolean[],
): Promise<CreationResult> {
  if (!idempotency || !isKnownKey)
    return { kind: keyHash !== undefined && refused.at(-1) ? 'key_invalid' : 'full' };
  const earlier = await findRequest(table, caller, idempotency.key, new Date(0));
  if (earlier === undefined) throw new TransientError('The idempotency record expired while it was read');
  return toReplay(earlier, idempotency);
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

/** Returns the request of a caller's idempotency key that has not expired by `now`. */
export async function findRequest(
  table: Table,
  caller: string,
  key: string,
  now: Date,
): Promise<IdempotentRequest | undefined> {
  const item = await table.get(itemKeys.idempotency(caller, key));
  const earlier = item && readItem(idempotencySchema, item);
  if (earlier === undefined || earlier.expires_at_ms <= now.getTime()) return undefined;
  return { requestHash: earlier.request_hash, runId: earlier.job_id };
}

const idempotencySchema = z.object({
  request_hash: z.string(),
  job_id: z.string(),
  expires_at_ms: z.int(),
});

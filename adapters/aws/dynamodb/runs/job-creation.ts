import { z } from 'zod';
import { TransientError } from '../../../../core/errors.ts';
import {
  toReplay,
  type CreationResult,
  type IdempotencyRecord,
  type IdempotentRequest,
  type JobCreation,
  type ReservationResult,
  type SlotReservation,
} from '../../../../core/ports/runs.ts';
import { itemKeys } from '../table/keys.ts';
import type { ItemTtls } from '../table/item-ttls.ts';
import { readItem } from '../table/record.ts';
import type { RunDeps } from './run-commit.ts';
import { toItems, putSource } from './run-item.ts';
import type { Table, Check, Write, Item } from '../table/table.ts';
import { requireValidKey } from '../callers/key-store.ts';

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

/**
 * The slots of a caller: the set `active` has the ids of its jobs and of those that are being created. Of the latter
 * the attribute `reserved:<job id>` is a map with the reservation's end (`until`, in ms since 1970), the requests that
 * share it (`holders`), and their idempotency key and request hash: an expression can compare the size of one set only.
 */

/** The set is absent at first, and after its last job was removed. */
const isFree = 'attribute_not_exists(#active) OR size(#active) < :limit';

/** Part of a creation: takes over the reserved slot of the job, or a free one. */
function takeSlot(caller: string, jobId: string, slotLimit: number): Write {
  return {
    kind: 'update',
    key: itemKeys.slots(caller),
    change: 'ADD #active :job REMOVE #reserved',
    condition: `contains(#active, :jobId) OR ${isFree}`,
    values: { ':job': new Set([jobId]), ':jobId': jobId, ':limit': slotLimit },
    names: reservedName(jobId),
  };
}

export async function reserveSlot(
  table: Table,
  reservation: SlotReservation,
  now: Date,
): Promise<ReservationResult> {
  const result = await tryReserve(table, reservation, now);
  if (result.kind !== 'full') return result;
  const isReleased = await releaseExpired(table, reservation.caller, now);
  // A request with the same idempotency key may have taken the last slot since the reservations were read.
  return isReleased || reservation.idempotency ? tryReserve(table, reservation, now) : result;
}

async function tryReserve(table: Table, reservation: SlotReservation, now: Date): Promise<ReservationResult> {
  const { caller, idempotency } = reservation;
  const shared = idempotency && (await findByKey(table, caller, idempotency.key, now));
  if (shared && shared.requestHash !== idempotency.requestHash) return { kind: 'key_reused' };
  const jobId = shared?.jobId ?? reservation.jobId;
  const write = shared ? toShare(reservation, jobId) : toReservation(reservation);
  return (await table.write(write)).kind === 'written' ? { kind: 'reserved', jobId } : { kind: 'full' };
}

/** A job that was created has no reservation, and keeps its slot. */
export async function releaseSlot(
  table: Table,
  caller: string,
  jobId: string,
  holder: string,
): Promise<void> {
  await table.write({
    kind: 'update',
    key: itemKeys.slots(caller),
    change: 'REMOVE #reserved.#holders.#holder',
    condition: 'attribute_exists(#reserved.#holders.#holder)',
    names: { ...reservedName(jobId), '#holder': holder },
  });
  await table.write(toRelease(caller, jobId, 'size(#reserved.#holders) = :none', { ':none': 0 }));
}

export async function countSlots(table: Table, caller: string): Promise<number> {
  const item = await table.get(itemKeys.slots(caller));
  return readItem(slotsSchema, item ?? {}).active?.size ?? 0;
}

function toReservation({ caller, jobId, slotLimit, until, idempotency }: SlotReservation): Write {
  const reserved = {
    until: until.getTime(),
    holders: { [jobId]: true },
    ...(idempotency && { key: idempotency.key, request_hash: idempotency.requestHash }),
  };
  return {
    kind: 'update',
    key: itemKeys.slots(caller),
    change: 'ADD #active :job SET #reserved = if_not_exists(#reserved, :reserved)',
    condition: `attribute_exists(#reserved) OR ${isFree}`,
    values: { ':job': new Set([jobId]), ':reserved': reserved, ':limit': slotLimit },
    names: reservedName(jobId),
  };
}

function toShare({ caller, jobId: holder, until }: SlotReservation, jobId: string): Write {
  return {
    kind: 'update',
    key: itemKeys.slots(caller),
    change: 'SET #reserved.#until = :until, #reserved.#holders.#holder = :true',
    condition: 'attribute_exists(#reserved.#holders)',
    values: { ':until': until.getTime(), ':true': true },
    names: { ...reservedName(jobId), '#holder': holder },
  };
}

async function findByKey(table: Table, caller: string, key: string, now: Date) {
  for (const { jobId, value } of await readReservations(table, caller)) {
    if (value.key === key && value.until > now.getTime()) return { jobId, requestHash: value.request_hash };
  }
  return undefined;
}

/**
 * Deletes reservations of crashed creations. Returns true if there was one. Keeps a reservation that was shared
 * meanwhile.
 */
async function releaseExpired(table: Table, caller: string, now: Date): Promise<boolean> {
  const expired = (await readReservations(table, caller)).filter(({ value }) => value.until <= now.getTime());
  for (const { jobId, value } of expired)
    await table.write(toRelease(caller, jobId, '#reserved = :expired', { ':expired': value }));
  return expired.length > 0;
}

function toRelease(caller: string, jobId: string, condition: string, values: Item): Write {
  return {
    kind: 'update',
    key: itemKeys.slots(caller),
    change: 'DELETE #active :job REMOVE #reserved',
    condition,
    values: { ':job': new Set([jobId]), ...values },
    names: reservedName(jobId),
  };
}

async function readReservations(table: Table, caller: string) {
  const item = (await table.get(itemKeys.slots(caller))) ?? {};
  return Object.entries(item)
    .filter(([name]) => name.startsWith(reservedPrefix))
    .map(([name, value]) => ({
      jobId: name.slice(reservedPrefix.length),
      value: readItem(reservationSchema, value),
    }));
}

const reservedPrefix = 'reserved:';

function reservedName(jobId: string): Record<string, string> {
  return { '#reserved': `${reservedPrefix}${jobId}` };
}

const slotsSchema = z.object({ active: z.set(z.string()).optional() });

/** `holders` counts when the whole value is compared. */
const reservationSchema = z.object({
  until: z.number(),
  holders: z.record(z.string(), z.literal(true)),
  key: z.string().optional(),
  request_hash: z.string().optional(),
});

import { z } from 'zod';
import type { ReservationResult, SlotReservation } from '../../../../core/ports/runs.ts';
import { itemKeys } from '../table/keys.ts';
import { readItem } from '../table/record.ts';
import type { Table } from '../table/table.ts';
import type { Item, Write } from '../table/write.ts';

/**
 * The slots of a caller: the set `active` has the ids of its jobs and of those that are being created. Of the latter
 * the attribute `reserved:<job id>` is a map with the reservation's end (`until`, in ms since 1970), the requests that
 * share it (`holders`), and their idempotency key and request hash: an expression can compare the size of one set only.
 */

/** The set is absent at first, and after its last job was removed. */
const isFree = 'attribute_not_exists(#active) OR size(#active) < :limit';

/** Part of a creation: takes over the reserved slot of the job, or a free one. */
export function takeSlot(caller: string, jobId: string, slotLimit: number): Write {
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

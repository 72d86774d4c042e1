import { z } from 'zod';
import type { SlotReservation } from '../../../core/ports/job-store.ts';
import { itemKeys } from './keys.ts';
import { readItem } from './record.ts';
import type { Table } from './table.ts';
import type { Write } from './write.ts';

/**
 * The slots of a caller: the set `active` has the ids of its jobs and of those that are being created. Of the latter the attribute
 * `reserved:<job id>` holds when the reservation ends, in ms since 1970: an expression can compare the size of one set only.
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
): Promise<'reserved' | 'slots_full'> {
  const write = toReservation(reservation);
  if ((await table.write(write)).kind === 'written') return 'reserved';
  if (!(await releaseExpired(table, reservation.caller, now))) return 'slots_full';
  return (await table.write(write)).kind === 'written' ? 'reserved' : 'slots_full';
}

/** A job that was created has no reservation, and keeps its slot. */
export async function releaseSlot(table: Table, caller: string, jobId: string): Promise<void> {
  await table.write(toRelease(caller, jobId, 'attribute_exists(#reserved)'));
}

export async function countSlots(table: Table, caller: string): Promise<number> {
  const item = await table.get(itemKeys.slots(caller));
  return readItem(slotsSchema, item ?? {}).active?.size ?? 0;
}

function toReservation({ caller, jobId, slotLimit, until }: SlotReservation): Write {
  return {
    kind: 'update',
    key: itemKeys.slots(caller),
    change: 'ADD #active :job SET #reserved = :until',
    condition: `attribute_exists(#reserved) OR ${isFree}`,
    values: { ':job': new Set([jobId]), ':until': until.getTime(), ':limit': slotLimit },
    names: reservedName(jobId),
  };
}

/** Returns whether there was any: of creations that crashed. */
async function releaseExpired(table: Table, caller: string, now: Date): Promise<boolean> {
  const item = (await table.get(itemKeys.slots(caller))) ?? {};
  const expired = Object.entries(item).filter(
    (entry): entry is [string, number] =>
      entry[0].startsWith(reservedPrefix) && typeof entry[1] === 'number' && entry[1] <= now.getTime(),
  );
  for (const [name, untilMs] of expired) {
    const write = toRelease(caller, name.slice(reservedPrefix.length), '#reserved = :until', {
      ':until': untilMs,
    });
    await table.write(write);
  }
  return expired.length > 0;
}

function toRelease(caller: string, jobId: string, condition: string, values = {}): Write {
  return {
    kind: 'update',
    key: itemKeys.slots(caller),
    change: 'DELETE #active :job REMOVE #reserved',
    condition,
    values: { ':job': new Set([jobId]), ...values },
    names: reservedName(jobId),
  };
}

const reservedPrefix = 'reserved:';

function reservedName(jobId: string): Record<string, string> {
  return { '#reserved': `${reservedPrefix}${jobId}` };
}

const slotsSchema = z.object({ active: z.set(z.string()).optional() });

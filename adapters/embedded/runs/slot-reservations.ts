import type { IdempotencyRecord, ReservationResult, SlotReservation } from '../../../core/ports/job-store.ts';

/**
 * Reservation until `untilMs` (epoch ms). `holders` are the requests that share it, by the job ids that they reserved
 * with.
 */
type Reservation = { untilMs: number; holders: Set<string>; idempotency: IdempotencyRecord | undefined };

/**
 * Creates reservations of slots for jobs that are being created. They are in memory: a process that crashes creates
 * none of those jobs.
 */
export function createSlotReservations() {
  const callers = new Map<string, Map<string, Reservation>>();
  return { reserve, release, remove, count };

  /** Reserves a slot. Returns 'full' if jobs (`slotsTaken`) and reservations use all `slotLimit` slots. */
  function reserve(
    { caller, jobId, slotLimit, until, idempotency }: SlotReservation,
    slotsTaken: number,
    now: Date,
  ): ReservationResult {
    const held = unexpired(caller, now);
    const [sharedId, shared] = findByKey(held, idempotency?.key) ?? [jobId, held.get(jobId)];
    if (shared !== undefined) {
      if (shared.idempotency?.requestHash !== idempotency?.requestHash) return { kind: 'key_reused' };
      shared.holders.add(jobId);
      shared.untilMs = until.getTime();
      return { kind: 'reserved', jobId: sharedId };
    }
    if (slotsTaken + held.size >= slotLimit) return { kind: 'full' };
    held.set(jobId, { untilMs: until.getTime(), holders: new Set([jobId]), idempotency });
    callers.set(caller, held);
    return { kind: 'reserved', jobId };
  }

  function release(caller: string, jobId: string, holder: string): void {
    const holders = callers.get(caller)?.get(jobId)?.holders;
    holders?.delete(holder);
    if (holders?.size === 0) remove(caller, jobId);
  }

  function remove(caller: string, jobId: string): void {
    const held = callers.get(caller);
    held?.delete(jobId);
    if (held?.size === 0) callers.delete(caller);
  }

  /** Returns the number of slots that are reserved for jobs other than this one. */
  function count(caller: string, jobId: string, now: Date): number {
    const held = unexpired(caller, now);
    return held.size - (held.has(jobId) ? 1 : 0);
  }

  function unexpired(caller: string, now: Date): Map<string, Reservation> {
    const held = callers.get(caller) ?? new Map<string, Reservation>();
    for (const [id, { untilMs }] of held) if (untilMs <= now.getTime()) held.delete(id);
    return held;
  }
}

function findByKey(
  held: Map<string, Reservation>,
  key: string | undefined,
): [string, Reservation] | undefined {
  if (key === undefined) return undefined;
  return [...held].find(([, { idempotency }]) => idempotency?.key === key);
}

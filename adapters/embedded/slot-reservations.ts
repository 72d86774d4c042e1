import type { SlotReservation } from '../../core/ports/job-store.ts';

/** Slots of jobs that are being created, in memory: a process that crashes creates none of them. */
export function createSlotReservations() {
  const callers = new Map<string, Map<string, number>>();
  return { reserve, release, count };

  /** Returns false if the caller has `slotLimit` slots, `slotsTaken` by jobs and the rest reserved. */
  function reserve(
    { caller, jobId, slotLimit, until }: SlotReservation,
    slotsTaken: number,
    now: Date,
  ): boolean {
    if (slotsTaken + count(caller, jobId, now) >= slotLimit) return false;
    const held = callers.get(caller) ?? new Map<string, number>();
    callers.set(caller, held.set(jobId, until.getTime()));
    return true;
  }

  function release(caller: string, jobId: string): void {
    const held = callers.get(caller);
    held?.delete(jobId);
    if (held?.size === 0) callers.delete(caller);
  }

  /** Returns the number of slots that are reserved for jobs other than this one. */
  function count(caller: string, jobId: string, now: Date): number {
    const held = callers.get(caller) ?? new Map<string, number>();
    for (const [id, untilMs] of held) if (untilMs <= now.getTime()) held.delete(id);
    return held.size - (held.has(jobId) ? 1 : 0);
  }
}

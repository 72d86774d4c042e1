import { z } from 'zod';

/** Permit holders with expiry (epoch ms). Permits expire so that a crashed holder cannot leak one. */
export const permitsSchema = z.record(z.string(), z.int());
/** Permit holders with expiry. */
export type Permits = z.infer<typeof permitsSchema>;

/**
 * Returns the unexpired permits. Drops permits too far in the future, which were written before a clock was set
 * back and would block the caller.
 */
export function unexpiredPermits(places: Permits, nowMs: number, heldMs: number): Permits {
  return Object.fromEntries(
    Object.entries(places).filter(([, untilMs]) => untilMs > nowMs && untilMs <= nowMs + 2 * heldMs),
  );
}

export function countPermits(places: Permits): number {
  return Object.keys(places).length;
}

export function withoutPermit({ ...places }: Permits, holder: string): Permits {
  delete places[holder];
  return places;
}

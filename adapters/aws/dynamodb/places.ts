import { z } from 'zod';

/** Permit holders with expiry (epoch ms). Permits expire so that a crashed holder cannot leak one. */
export const placesSchema = z.record(z.string(), z.int());
/** Permit holders with expiry. */
export type Places = z.infer<typeof placesSchema>;

/**
 * Returns the unexpired permits. Drops permits too far in the future, which were written before a clock was set
 * back and would block the caller.
 */
export function heldPlaces(places: Places, nowMs: number, heldMs: number): Places {
  return Object.fromEntries(
    Object.entries(places).filter(([, untilMs]) => untilMs > nowMs && untilMs <= nowMs + 2 * heldMs),
  );
}

/** Returns the number of permits. */
export function countOf(places: Places): number {
  return Object.keys(places).length;
}

/** Returns the permits without one holder. */
export function withoutPlace({ ...places }: Places, holder: string): Places {
  delete places[holder];
  return places;
}

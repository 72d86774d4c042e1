import { z } from 'zod';

/** Who holds a place, and until when (ms since 1970) if nobody hears of them: whoever crashed gives nothing back. */
export const placesSchema = z.record(z.string(), z.int());
export type Places = z.infer<typeof placesSchema>;

/** Those that are still held. A clock that was set back must not keep a caller out: no holder may be ahead by more than `heldMs`. */
export function heldPlaces(places: Places, nowMs: number, heldMs: number): Places {
  return Object.fromEntries(
    Object.entries(places).filter(([, untilMs]) => untilMs > nowMs && untilMs <= nowMs + 2 * heldMs),
  );
}

export function countOf(places: Places): number {
  return Object.keys(places).length;
}

export function withoutPlace({ ...places }: Places, holder: string): Places {
  delete places[holder];
  return places;
}

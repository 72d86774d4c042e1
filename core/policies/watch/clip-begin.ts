import type { Alert } from '../../records/watch-state.ts';
import { addSeconds, ageSeconds } from '../../time.ts';

/** Longest time before its opening that a clip shows, however early its visit has begun, in seconds. */
const maxBeforeOpeningSeconds = 30;

/** Time before the first picture of a visit in which the one before it is, in seconds. */
const leadSeconds = 1;

/** Returns the longest time before an opening that a clip may need, in seconds. */
export function longestBeforeOpening(beforeSeconds: number): number {
  return beforeSeconds > 0 ? maxBeforeOpeningSeconds : 0;
}

/**
 * Returns the begin of a clip: at least `beforeSeconds` before the opening, and earlier if the visit has begun by then.
 * With 0, it is the opening.
 */
export function findClipBegin(
  { opened_at: openedAt, seen_from: seenFrom = openedAt }: Pick<Alert, 'opened_at' | 'seen_from'>,
  beforeSeconds: number,
): Date {
  const opening = new Date(openedAt);
  const visitSeconds = ageSeconds(seenFrom, opening) + leadSeconds;
  return addSeconds(
    opening,
    -Math.min(Math.max(beforeSeconds, visitSeconds), longestBeforeOpening(beforeSeconds)),
  );
}

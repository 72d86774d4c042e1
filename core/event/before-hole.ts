import { addSeconds, secondsUntil } from '../time.ts';

/** Age of an event, in seconds, from which a hole before it stays: a commit is visible to all readers long before. */
const holeSeconds = 30;

/**
 * Returns the events that follow `after` without a hole. Two commits can become visible in another order than that of
 * their sequences; a reader that crossed a hole would never see the event in it, so it stops and reads again. Holes
 * that stay are crossed: a restore skips sequences, and expired events leave the log.
 */
export function eventsBeforeHole<LogEvent extends { sequence: number; timestamp: string }>(
  events: readonly LogEvent[],
  after: number,
  now: Date,
): LogEvent[] {
  const end = events.findIndex(
    ({ sequence, timestamp }, index) =>
      sequence !== (events[index - 1]?.sequence ?? after) + 1 && mayClose(timestamp, now),
  );
  return end === -1 ? [...events] : events.slice(0, end);
}

/** Another writer has a slightly different clock. A time further ahead is from before the clock was set back. */
function mayClose(timestamp: string, now: Date): boolean {
  return secondsUntil(addSeconds(new Date(timestamp), holeSeconds), now, 2 * holeSeconds) > 0;
}

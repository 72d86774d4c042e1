const sequence = /^\d{1,15}$/;

/**
 * After which event a stream goes on: `Last-Event-ID`, else what the query says. A reader that names an event that this log
 * does not have never read this log, so it gets all of it: it misses nothing, and a wait for an event that never comes is no answer.
 */
export function resumePoint(lastEventId: string | undefined, after: number, newest: number): number {
  const asked = lastEventId !== undefined && sequence.test(lastEventId) ? Number(lastEventId) : after;
  return asked > newest ? 0 : asked;
}

const sequence = /^\d{1,15}$/;

/**
 * Returns the sequence after which a stream starts: `Last-Event-ID`, else the query parameter. An event id that this log does not
 * have starts from the beginning, so that the reader misses nothing.
 */
export function resumePoint(lastEventId: string | undefined, after: number, newest: number): number {
  const asked = lastEventId !== undefined && sequence.test(lastEventId) ? Number(lastEventId) : after;
  return asked > newest ? 0 : asked;
}

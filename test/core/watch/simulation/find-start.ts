/**
 * Returns the start of a virtual month, in epoch milliseconds. In the first, daylight saving begins in New York after a day and in Berlin after three
 * weeks, and ends on Lord Howe Island before its end. In the second, it ends in Berlin and New York.
 */
export function findStart(seed: number): number {
  return Date.parse(seed % 3 === 2 ? '2026-10-20T12:00:00Z' : '2026-03-07T12:00:00Z');
}

/**
 * Ages of stored times and waits for them. A clock can be set back at any moment, so each stored time may lie in the future. Every
 * duration that decides something is measured here, by one rule each: what happened in the future has just happened, and a wait
 * that is longer than anyone can have meant is over. The times of a job also move with the clock (`tick/clock-change.ts`).
 */

/** Returns the seconds since `from`, at least 0. */
export function ageSeconds(from: string | Date, now: Date): number {
  return Math.max(0, (now.getTime() - new Date(from).getTime()) / 1000);
}

/** Returns the seconds until `due`: 0 if it has come, and 0 if it is further away than `maxSeconds`, the longest wait that is ever meant. */
export function secondsUntil(due: string | Date, now: Date, maxSeconds: number): number {
  const seconds = (new Date(due).getTime() - now.getTime()) / 1000;
  return seconds <= maxSeconds ? Math.max(0, seconds) : 0;
}

/** Returns true if `seconds` have passed since `from`. A `from` in the future counts as passed: for what is safe to renew early. */
export function isOver(from: string | Date, seconds: number, now: Date): boolean {
  return new Date(from) > now || ageSeconds(from, now) >= seconds;
}

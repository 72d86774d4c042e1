/**
 * Ages of stored times, waits, and the grid of wake-ups. A clock can be set back at any moment, so each stored time may
 * be in the future. This module measures every duration that affects a decision. A time in the future has an age of 0,
 * and a wait that is longer than any planned one is over. The times of a run also move with the clock
 * (`sight/clock-change.ts`).
 */

/** Returns the seconds since `from`, at least 0. */
export function ageSeconds(from: string | Date, now: Date): number {
  return Math.max(0, (now.getTime() - new Date(from).getTime()) / 1000);
}

/**
 * Returns the seconds until `due`: 0 if it has passed, and 0 if it is further away than `maxSeconds`, the longest
 * planned wait.
 */
export function secondsUntil(due: string | Date, now: Date, maxSeconds: number): number {
  const seconds = (new Date(due).getTime() - now.getTime()) / 1000;
  return seconds <= maxSeconds ? Math.max(0, seconds) : 0;
}

/**
 * Returns true if `seconds` have passed since `from`. A `from` in the future counts as passed: for what is safe to
 * renew early.
 */
export function isOver(from: string | Date, seconds: number, now: Date): boolean {
  return new Date(from) > now || ageSeconds(from, now) >= seconds;
}

/**
 * Returns the first point after `now` of the grid of wake-ups, at most an interval away. The grid is fixed from the
 * start of a job, so that slow ticks and retries cause no drift. Missed points are left out, and the grid has points
 * before its start too.
 */
export function nextGridTime(startedAt: Date, intervalSeconds: number, now: Date): Date {
  const intervalMs = intervalSeconds * 1000;
  const passed = Math.floor((now.getTime() - startedAt.getTime()) / intervalMs);
  return new Date(startedAt.getTime() + (passed + 1) * intervalMs);
}

/**
 * Checks of a job: from `startedAt`, or with the phase of the stream, which is a time since 1970 modulo the interval.
 */
export type Grid = {
  startedAt: Date;
  phaseMs: number | null;
  intervalSeconds: number;
  /** Planned time of this check; null for the first one. */
  plannedAt: Date | null;
  /** Factor of the interval, 1 without overload. */
  stretch: number;
};

/** Returns the interval in an overload, in whole seconds. */
export function stretchedInterval(intervalSeconds: number, stretch: number): number {
  return stretch > 1 ? Math.ceil(intervalSeconds * stretch) : intervalSeconds;
}

/** Longest time to the next point of a grid, in intervals. */
export const maxGridIntervals = 1.5;

/**
 * Returns the next point of a grid. With a phase it is at least half an interval after this check was planned, and up
 * to an interval and a half: the first check is immediate, and another `stretch` has another grid.
 */
export function nextOnGrid(grid: Grid, now: Date): Date {
  const { startedAt, phaseMs, plannedAt, stretch } = grid;
  const intervalSeconds = stretchedInterval(grid.intervalSeconds, stretch);
  const from = plannedAt ?? startedAt;
  if (phaseMs === null) return nextGridTime(stretch > 1 ? from : startedAt, intervalSeconds, now);
  const earliest = from <= now ? later(now, addSeconds(from, intervalSeconds / 2)) : now;
  return nextGridTime(new Date(phaseMs), intervalSeconds, earliest);
}

/**
 * Returns the time of a wake-up: a point of the grid of a phase is exact, any other time is rounded up to a whole
 * second.
 */
export function toWakeUp(time: Date, phaseMs: number | null): Date {
  const isOnGrid = phaseMs !== null && (time.getTime() - phaseMs) % 1000 === 0;
  return isOnGrid ? time : ceilToSecond(time);
}

/** Rounds up to whole seconds: a Step Functions Wait truncates milliseconds and would wake early. */
function ceilToSecond(time: Date): Date {
  return new Date(Math.ceil(time.getTime() / 1000) * 1000);
}

export function addSeconds(time: Date, seconds: number): Date {
  return new Date(time.getTime() + seconds * 1000);
}

export function earlier(a: Date, b: Date): Date {
  return a < b ? a : b;
}

export function later(a: Date, b: Date): Date {
  return a > b ? a : b;
}

export type Move = { (time: string): string; (time: string | null): string | null };

/**
 * Replaces the times of a run: `past` was the current time when it was stored, as `pastMs` in milliseconds; `other` is
 * a planned time, or of another clock.
 */
export type Mover = { past: Move; other: Move; pastMs: (time: number) => number };

/** Returns the begin of the hour of a time (UTC). */
export function floorHour(time: Date): Date {
  return new Date(Math.floor(time.getTime() / 3_600_000) * 3_600_000);
}

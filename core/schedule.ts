/** Wake-ups stand on a fixed grid from the job's start, so that slow ticks and retries never make it drift. */

/** Returns the first grid point after `now`, at most an interval away: missed points are left out, and the grid has points before its start too. */
export function nextGridTime(startedAt: Date, intervalSeconds: number, now: Date): Date {
  const intervalMs = intervalSeconds * 1000;
  const passed = Math.floor((now.getTime() - startedAt.getTime()) / intervalMs);
  return new Date(startedAt.getTime() + (passed + 1) * intervalMs);
}

/** Whole seconds, rounded up: a Step Functions Wait truncates milliseconds and would wake early. */
export function ceilToSecond(at: Date): Date {
  return new Date(Math.ceil(at.getTime() / 1000) * 1000);
}

export function addSeconds(at: Date, seconds: number): Date {
  return new Date(at.getTime() + seconds * 1000);
}

export function earlier(a: Date, b: Date): Date {
  return a < b ? a : b;
}

export function later(a: Date, b: Date): Date {
  return a > b ? a : b;
}

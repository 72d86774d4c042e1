import type { Log } from '../ports/observability.ts';
import { isBehindChecks } from '../ports/callers.ts';
import type { Pace } from '../ports/pace.ts';

export type PaceDeps = { steadyNow: () => Date; log: Log };

/** Pace that measures how long checks wait for this machine. */
export type MeasuredPace = Pace & {
  /**
   * Adds the wait of one check for a resource of this machine: its timer, its turn, or its decoder. Work behind checks
   * waits by design, and does not count.
   */
  record(resource: string, waitedMs: number, caller?: string): void;
  /** Adds the time for which a caller had a resource of this machine. */
  recordUse(caller: string, usedMs: number): void;
  /** Adds a time for which the event loop was blocked. */
  recordBlock(blockedMs: number): void;
  /** Counts an RTSP stream whose captures have a connection each, because its session could not be used. */
  recordFallback(url: string, reason: string): void;
};

const windowMs = 5000;
/** Windows in a row that are late before intervals are stretched: a start wakes all jobs together. */
const lateWindows = 2;
/** The factor makes intervals this much longer than they are in the overload, so that the waits end. */
const margin = 1.05;
/** Decrease of the factor per window in time. It is slow, because the next overload shows after an interval only. */
const decrease = 1.02;
const maxStretch = 16;
const step = 1.2;
/** Mean wait, in intervals, above which the factor grows, and below which it decreases. */
const late = 1;
const lateWhileStretched = 0.5;
const inTime = 0.25;
/** An hour without checks decreases every factor to 1. */
const maxIdleWindows = 720;
/**
 * Part of uses and of the work of late windows that still counts in the next one, half of it a minute later: one window
 * may have few checks.
 */
const keptUse = 0.95;
/** Intervals and time without a check after which a run is no load any more. */
const [goneAfterIntervals, goneAfterMs] = [3, 60_000];
/** Block of the event loop that the log names. */
const longBlockMs = 1000;

/** Newest check of a run, with the factor of its next interval. */
type Check = { caller: string; intervalSeconds: number; factor: number; atMs: number };

/**
 * Creates the pace of one machine. Once checks wait longer than an interval for several seconds, it stretches intervals
 * until they are in time, and then shortens them slowly, so that no burst follows. The caller that needs most of the
 * machine is stretched first: no other one beyond an equal share.
 */
export function createPace({ steadyNow, log }: PaceDeps): MeasuredPace {
  let windowEnd = steadyNow().getTime() + windowMs;
  let waits = new Map<string, { sumMs: number; count: number }>();
  let intervals = { sum: 0, count: 0 };
  const lastChecks = new Map<string, Check>();
  /** Time of this machine that the checks of each caller took of late. */
  const uses = new Map<string, { ms: number; checks: number }>();
  /**
   * Work of the checks of this window, in milliseconds of this machine, and that of the late windows before it: while
   * checks wait, it is all that the machine can do.
   */
  let done = 0;
  let busy = { done: 0, seconds: 0 };
  let meanInterval = 10;
  let lateSeconds = 0;
  let lateInARow = 0;
  /** Load in parts of what the machine can do, by the measurements. */
  let need = 1;
  /** Factors of callers above 1, in steps, so that checks keep their grid for a while. */
  let factors = new Map<string, number>();
  let lateChecks = 0;
  let blockedSeconds = 0;
  let sessionFallbacks = 0;

  return {
    record: (resource, waitedMs, caller = '') => {
      roll();
      if (isBehindChecks(caller)) return;
      const { sumMs, count } = waits.get(resource) ?? { sumMs: 0, count: 0 };
      waits.set(resource, { sumMs: sumMs + waitedMs, count: count + 1 });
    },
    recordUse: (caller, usedMs) => {
      if (isBehindChecks(caller)) return;
      const { ms, checks } = uses.get(caller) ?? { ms: 0, checks: 0 };
      uses.set(caller, { ms: ms + usedMs, checks });
    },
    stretch: ({ run_id: id, caller }, intervalSeconds) => {
      roll();
      const factor = factors.get(caller) ?? 1;
      recordCheck(id, { caller, intervalSeconds, factor, atMs: steadyNow().getTime() });
      intervals = { sum: intervals.sum + intervalSeconds, count: intervals.count + 1 };
      if (factor > 1) lateChecks += 1;
      return factor;
    },
    retryAfterSeconds: (caller) => {
      roll();
      return factors.has(caller) ? retryAfterSeconds : undefined;
    },
    recordBlock: (blockedMs) => {
      blockedSeconds += blockedMs / 1000;
      if (blockedMs >= longBlockMs)
        log.warning('The event loop was blocked: nobody got an answer', { seconds: blockedMs / 1000 });
    },
    recordFallback: (url, reason) => {
      sessionFallbacks += 1;
      log.warning('The RTSP session of a stream is not usable: each capture opens a connection', {
        stream: url,
        reason,
      });
    },
    read: () => {
      roll();
      return { lateSeconds, stretch: largestFactor(), lateChecks, blockedSeconds, sessionFallbacks };
    },
  };

  function largestFactor(): number {
    return Math.max(1, ...factors.values());
  }

  function recordCheck(id: string, check: Check): void {
    const { caller, intervalSeconds, atMs } = check;
    const share = (atMs - (lastChecks.get(id)?.atMs ?? 0)) / 1000 / intervalSeconds;
    lastChecks.set(id, check);
    const { ms, checks } = uses.get(caller) ?? { ms: 0, checks: 0 };
    uses.set(caller, { ms, checks: checks + 1 });
    // A check that follows a failed capture is early, and only a part of what was asked for.
    done += costOfCheck(caller) * Math.min(1, share);
  }

  /** Returns what a check of the caller takes of this machine, in milliseconds. */
  function costOfCheck(caller: string): number {
    const { ms, checks } = uses.get(caller) ?? { ms: 0, checks: 0 };
    return 1 + ms / Math.max(1, checks);
  }

  /**
   * Returns what the runs of each caller would take of this machine at their own intervals, in milliseconds a second.
   */
  function readLoads(): Map<string, number> {
    const loads = new Map<string, number>();
    for (const [id, check] of lastChecks) {
      const { caller, intervalSeconds } = check;
      if (goneAtMs(check) < windowEnd) lastChecks.delete(id);
      else loads.set(caller, (loads.get(caller) ?? 0) + costOfCheck(caller) / intervalSeconds);
    }
    return loads;
  }

  function roll(): void {
    const nowMs = steadyNow().getTime();
    for (let windows = 0; nowMs >= windowEnd && windows < maxIdleWindows; windows += 1) {
      closeWindow();
      windowEnd += windowMs;
    }
    windowEnd = Math.max(windowEnd, nowMs);
  }

  function closeWindow(): void {
    if (intervals.count > 0) meanInterval = intervals.sum / intervals.count;
    lateSeconds = [...waits.values()].reduce((sum, { sumMs, count }) => sum + sumMs / count / 1000, 0);
    waits = new Map();
    intervals = { sum: 0, count: 0 };
    const loads = readLoads();
    const wasStretched = need > 1;
    need = nextNeed(lateSeconds / meanInterval, loads);
    done = 0;
    const divided = need > 1 ? divideLoad(loads, need) : [];
    factors = new Map([...divided].map(([caller, factor]) => [caller, roundUp(factor)]));
    if (!wasStretched && need > 1)
      log.warning('Checks are late: the service is overloaded and stretches intervals', {
        late_seconds: lateSeconds,
        callers: factors.size,
      });
    if (wasStretched && need === 1) log.info('Checks are in time again');
    for (const [caller, { ms, checks }] of uses)
      if (checks < 0.01 && ms < 1) uses.delete(caller);
      else uses.set(caller, { ms: ms * keptUse, checks: checks * keptUse });
  }

  /** Returns the need after a window, from its mean wait in intervals and the loads of callers. */
  function nextNeed(lateIntervals: number, loads: ReadonlyMap<string, number>): number {
    const isLate = lateIntervals > (need > 1 ? lateWhileStretched : late);
    const load = [...loads.values()].reduce((sum, part) => sum + part, 0);
    lateInARow = isLate ? lateInARow + 1 : 0;
    if (isLate) {
      busy = { done: busy.done * keptUse + done, seconds: busy.seconds * keptUse + windowMs / 1000 };
      if (busy.done === 0 || (need === 1 && lateInARow < lateWindows)) return need;
      // Runs that have ended are a part of the load for a while, but no check comes later than its wait.
      const asked = Math.min(load / (busy.done / busy.seconds), largestFactor() + lateIntervals);
      return Math.min(maxStretch, Math.max(need, asked * margin));
    }
    if (lateIntervals >= inTime) return need;
    // Runs that have ended leave their part of the machine to the others.
    const asked = busy.done === 0 ? need : (load / (busy.done / busy.seconds)) * margin;
    return Math.max(1, Math.min(asked, need / decrease ** (1 / largestFactor())));
  }
}

/** Rounds up to a power of `step`, or the maximum. */
function roundUp(factor: number): number {
  return Math.min(maxStretch, step ** Math.ceil(Math.log(factor) / Math.log(step)));
}

/** Returns the time from which a run without a further check is no load. */
function goneAtMs({ intervalSeconds, factor, atMs }: Check): number {
  return atMs + goneAfterIntervals * intervalSeconds * factor * 1000 + goneAfterMs;
}

/** Several windows: the factor has changed until then. */
const retryAfterSeconds = 30;

/**
 * Divides a load that is `need` times what a machine can do. Returns the factors by which callers have to take less,
 * above 1 only: each may take an equal share, and what others leave of theirs.
 */
function divideLoad(loads: ReadonlyMap<string, number>, need: number): Map<string, number> {
  const smallestFirst = [...loads].toSorted(([, one], [, other]) => one - other);
  let left = smallestFirst.reduce((sum, [, load]) => sum + load, 0) / need;
  const factors = new Map<string, number>();
  for (const [index, [caller, load]] of smallestFirst.entries()) {
    const share = left / (smallestFirst.length - index);
    if (load > share) factors.set(caller, load / share);
    left -= Math.min(load, share);
  }
  return factors;
}

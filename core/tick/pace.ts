import type { Log } from '../ports/log.ts';
import type { Pace } from '../ports/pace.ts';

export type PaceDeps = { steadyNow: () => Date; log: Log };

/** Pace that measures how long checks wait for this machine. */
export type MeasuredPace = Pace & {
  /** Adds the wait of one check for a resource of this machine: its timer, its turn, or its decoder. */
  record(resource: string, waitedMs: number): void;
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
const minShare = 0.75;
/** An hour without checks decreases every factor to 1. */
const maxIdleWindows = 720;
const forgetAfterMs = 3_600_000;
/** Block of the event loop that the log names. */
const longBlockMs = 1000;

/**
 * Creates the pace of one machine. Once checks wait longer than an interval for several seconds, it stretches the intervals of all jobs until they are
 * in time, and then shortens them slowly, so that no burst follows.
 */
export function createPace({ steadyNow, log }: PaceDeps): MeasuredPace {
  let windowEnd = steadyNow().getTime() + windowMs;
  let waits = new Map<string, { sumMs: number; count: number }>();
  let intervals = { sum: 0, count: 0 };
  /** Time of the last check by job, and the sum of the intervals between checks in this window, in parts of what they should be. */
  const lastChecks = new Map<string, number>();
  let real = { sum: 0, count: 0 };
  let meanInterval = 10;
  let lateSeconds = 0;
  let lateInARow = 0;
  /** Factor that is needed by the measurements; `stretch` is its step, so that checks keep their grid for a while. */
  let need = 1;
  let stretch = 1;
  let lateChecks = 0;
  let blockedSeconds = 0;
  let sessionFallbacks = 0;

  return {
    record: (resource, waitedMs) => {
      roll();
      const { sumMs, count } = waits.get(resource) ?? { sumMs: 0, count: 0 };
      waits.set(resource, { sumMs: sumMs + waitedMs, count: count + 1 });
    },
    stretch: (id, intervalSeconds) => {
      roll();
      recordInterval(id, intervalSeconds);
      intervals = { sum: intervals.sum + intervalSeconds, count: intervals.count + 1 };
      if (stretch > 1) lateChecks += 1;
      return stretch;
    },
    retryAfterSeconds: () => {
      roll();
      return stretch > 1 ? retryAfterSeconds : undefined;
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
      return { lateSeconds, stretch, lateChecks, blockedSeconds, sessionFallbacks };
    },
  };

  function recordInterval(id: string, intervalSeconds: number): void {
    const nowMs = steadyNow().getTime();
    const share = (nowMs - (lastChecks.get(id) ?? nowMs)) / 1000 / intervalSeconds;
    lastChecks.set(id, nowMs);
    // A shorter one follows a failed capture.
    if (share >= minShare) real = { sum: real.sum + share, count: real.count + 1 };
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
    const before = lateSeconds;
    lateSeconds = [...waits.values()].reduce((sum, { sumMs, count }) => sum + sumMs / count / 1000, 0);
    waits = new Map();
    intervals = { sum: 0, count: 0 };
    const realShare = real.count === 0 ? stretch : real.sum / real.count;
    real = { sum: 0, count: 0 };
    for (const [id, ms] of lastChecks) if (ms < windowEnd - forgetAfterMs) lastChecks.delete(id);
    const wasStretched = stretch > 1;
    need = nextNeed(lateSeconds / meanInterval, lateSeconds >= before ? realShare : need);
    stretch = roundUp(need);
    if (!wasStretched && stretch > 1)
      log.warning('Checks are late: the service is overloaded and stretches all intervals', {
        late_seconds: lateSeconds,
      });
    if (wasStretched && stretch === 1) log.info('Checks are in time again');
  }

  /** Returns the factor after a window, from the mean wait and the mean interval between checks, both in intervals. */
  function nextNeed(lateIntervals: number, realShare: number): number {
    const isLate = lateIntervals > (stretch > 1 ? lateWhileStretched : late);
    lateInARow = isLate ? lateInARow + 1 : 0;
    if (isLate && (stretch > 1 || lateInARow >= lateWindows))
      return Math.min(maxStretch, Math.max(need, realShare * margin));
    if (lateIntervals >= inTime) return need;
    return Math.max(1, need / decrease);
  }
}

/** Rounds up to a power of `step`. */
function roundUp(need: number): number {
  return Math.min(maxStretch, step ** Math.ceil(Math.log(need) / Math.log(step)));
}

/** Several windows: the factor has changed until then. */
const retryAfterSeconds = 30;

import type { NextTick } from '../../records/run-base.ts';
import type { Watch } from '../../records/watch.ts';
import type { WatchRun } from '../../records/watch-run.ts';
import type { WatchStatus } from '../../records/watch-state.ts';
import { rules } from '../../rules.ts';
import {
  addSeconds,
  ageSeconds,
  earlier,
  later,
  maxGridIntervals,
  nextOnGrid,
  toWakeUp,
} from '../../time.ts';
import type { WatchOutcome } from './outcome.ts';

/** State after a tick that decides the time of the next one. */
export type TickPlan = {
  status: WatchStatus;
  /** True if a condition is partly confirmed. */
  isPending: boolean;
  /** True if the model judged all conditions in the capture. */
  judged: boolean;
  /** Wait after a capture of a stream with trouble; undefined if the interval applies. */
  troubleWaitSeconds: number | undefined;
  /** Next change of the schedule. */
  scheduleUntil: Date | null;
  /** Begin of the next local day. */
  dayEnd: Date;
  /** Planned time of this tick; null for the first one. */
  plannedAt: Date | null;
  /** Factor of the interval in an overload, else 1. */
  stretch: number;
};

/** Plans the next tick, after a day at most: an execution waits for less than its timeout. The boundary of a span, and of a day after the budget was used up, has a tick without a capture. */
export function planNextTick(watch: Watch, outcome: WatchOutcome, plan: TickPlan, now: Date): NextTick {
  const wakeUp = (at: Date) => toWakeUp(at, watch.stream_phase).toISOString();
  const { judged, stretch } = plan;
  const shared = {
    judged,
    resolve_again: outcome.kind === 'capture_failed',
    ...(stretch > 1 && { stretch }),
  };
  if (plan.status === 'paused')
    return { done: true, wait_until: wakeUp(now), closing: true, confirming: false, ...shared };
  const boundary = nextBoundary(plan);
  const latest = addSeconds(now, rules.maxWatchWaitSeconds);
  const sleeps = plan.status === 'off_schedule' || plan.status === 'budget_exhausted';
  const check = sleeps ? undefined : nextCheck(watch, outcome, plan, now);
  if (boundary && (!check || check.at >= boundary))
    return {
      done: false,
      wait_until: wakeUp(earlier(boundary, latest)),
      closing: true,
      confirming: false,
      ...shared,
    };
  const at = check?.at ?? latest;
  return {
    done: false,
    wait_until: wakeUp(at),
    closing: !check,
    confirming: check?.confirming ?? false,
    ...shared,
  };
}

function nextBoundary({ status, scheduleUntil, dayEnd }: TickPlan): Date | null {
  if (status !== 'budget_exhausted') return scheduleUntil;
  return scheduleUntil === null ? dayEnd : earlier(scheduleUntil, dayEnd);
}

function nextCheck(
  { config, created_at, stream_phase }: Watch,
  outcome: WatchOutcome,
  { isPending, troubleWaitSeconds, plannedAt, stretch }: TickPlan,
  now: Date,
): { at: Date; confirming: boolean } {
  if (troubleWaitSeconds !== undefined) return { at: addSeconds(now, troubleWaitSeconds), confirming: false };
  const onGrid = nextOnGrid(
    {
      startedAt: new Date(created_at),
      phaseMs: stream_phase,
      intervalSeconds: config.interval_seconds,
      plannedAt,
      stretch,
    },
    now,
  );
  if (!isPending) return { at: onGrid, confirming: false };
  const confirmAt = later(addSeconds(now, config.confirm_seconds), nextSegmentAt(outcome) ?? now);
  return confirmAt < onGrid ? { at: confirmAt, confirming: true } : { at: onGrid, confirming: false };
}

/** Returns when the stream should have a segment that was not captured yet; undefined if it has none. */
function nextSegmentAt(outcome: WatchOutcome): Date | undefined {
  if (!('captured' in outcome)) return undefined;
  const { position, since } = outcome.captured.seen;
  return position.segment === null ? undefined : addSeconds(new Date(since), position.segment_seconds);
}

/** Returns the time of the next tick: `now` if none is planned yet, or if the clock was set back since, so that the wait is longer than any planned one. */
export function watchWakeUpTime(
  { next, config: { interval_seconds: intervalSeconds }, state: { trouble } }: WatchRun,
  now: Date,
): Date {
  if (next === null) return now;
  const planned = new Date(next.wait_until);
  const checkSeconds = maxGridIntervals * Math.ceil((next.stretch ?? 1) * intervalSeconds);
  const maxSeconds = next.closing
    ? rules.maxWatchWaitSeconds
    : trouble
      ? Math.max(rules.watchRefusedSeconds, checkSeconds)
      : checkSeconds;
  return ageSeconds(now, planned) > maxSeconds + 1 ? now : planned;
}

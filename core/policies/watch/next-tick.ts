import type { NextTick } from '../../records/run-base.ts';
import type { Sight } from '../../records/sight.ts';
import type { WatchRun } from '../../records/run.ts';
import type { WatchStatus } from '../../records/watch-state.ts';
import { rules } from '../../rules.ts';
import { toNextTick, wakeUpTime } from '../../sight/wake-up.ts';
import { backoffSeconds } from '../../sight/trouble.ts';
import { addSeconds, earlier, later, nextGridTime, stretchedInterval } from '../../time.ts';
import { isFailed } from '../../tick/ask-model.ts';
import { hasVerdict, type WatchOutcome } from './outcome.ts';

/** State after a tick that decides the time of the next one. */
export type TickPlan = {
  status: WatchStatus;
  sight: Sight;
  /** True if a condition is partly confirmed. */
  isPending: boolean;
  /**
   * Seconds from the newest frame to the earliest opening of a condition that holds but not long enough; `null` without
   * one.
   */
  secondsToOpening: number | null;
  /** True if the model judged all conditions in the capture. */
  judged: boolean;
  /** Maximum wait for a lost stream, unless it refuses the password, in seconds. */
  maxLostWaitSeconds: number;
  scheduleUntil: Date | null;
  /** Begin of the next local day. */
  dayEnd: Date;
  /** Factor of the interval in an overload, else 1. */
  stretch: number;
};

/**
 * Plans the next tick, after a day at most: an execution waits for less than its timeout. The boundary of a span, and
 * of a day after the budget was used up, has a tick without a capture, but for the last scan of a span.
 */
export function planNextTick(watch: WatchRun, outcome: WatchOutcome, plan: TickPlan, now: Date): NextTick {
  const { status, judged, stretch, sight } = plan;
  const rescans = lacksVerdicts(outcome, watch.next?.rescans ?? false);
  const tickAt = (time: Date, kind: Partial<Pick<NextTick, 'done' | 'closing' | 'confirming'>>) =>
    toNextTick(watch, time, { judged, rescans, stretch, ...kind }, outcome, sight);
  if (status === 'paused') return tickAt(now, { done: true, closing: true });
  const boundary = nextBoundary(plan);
  const latest = addSeconds(now, rules.maxWatchWaitSeconds);
  const sleeps = status === 'off_schedule' || status === 'budget_exhausted';
  const check = sleeps ? undefined : nextCheck(watch, outcome, plan, now);
  if (boundary && (!check || check.at >= boundary))
    return tickAt(earlier(boundary, latest), { closing: !check || !scansAtEnd(watch, sight) });
  return check ? tickAt(check.at, { confirming: check.confirming }) : tickAt(latest, { closing: true });
}

/**
 * Returns true if the model failed for all frames of a capture, or for one of its moments. The next scan has them
 * again: once if it failed for a part, so that a model that fails for one condition does not cost the others the time
 * since.
 */
function lacksVerdicts(outcome: WatchOutcome, isRescan: boolean): boolean {
  if (outcome.kind !== 'judged' || !(outcome.busy || outcome.failure)) return false;
  if (!hasVerdict(outcome)) return true;
  const answers = outcome.earlier.flatMap((moment) => moment.answers);
  return !isRescan && answers.some(isFailed);
}

/** Returns true if a last scan, at the end of a span, judges the time since the last check of the span. */
function scansAtEnd({ config }: WatchRun, { scan, stream_trouble: trouble }: Sight): boolean {
  return config.look_back && scan !== undefined && trouble === null;
}

function nextBoundary({ status, scheduleUntil, dayEnd }: TickPlan): Date | null {
  if (status !== 'budget_exhausted') return scheduleUntil;
  return scheduleUntil === null ? dayEnd : earlier(scheduleUntil, dayEnd);
}

function nextCheck(
  watch: WatchRun,
  outcome: WatchOutcome,
  plan: TickPlan,
  now: Date,
): { at: Date; confirming: boolean } {
  const { config, created_at: createdAt, stream_phase: phase } = watch;
  if (watch.status === 'off_schedule') return { at: now, confirming: false };
  const wait = troubleWaitSeconds(plan);
  if (wait !== undefined) return { at: addSeconds(now, wait), confirming: false };
  // No wait between two checks is longer than the interval, also beside confirming ones: the shortest visit follows
  // from it.
  const grid = phase === null ? new Date(createdAt) : new Date(phase);
  const onGrid = nextGridTime(grid, stretchedInterval(config.interval_seconds, plan.stretch), now);
  // A frozen or black image confirms nothing.
  if (plan.sight.stream_trouble) return { at: onGrid, confirming: false };
  const after = (seconds: number) =>
    later(addSeconds(now, Math.max(config.confirm_seconds, seconds)), nextSegmentAt(outcome) ?? now);
  const confirmAt = after(0);
  if (plan.isPending && confirmAt < onGrid) return { at: confirmAt, confirming: true };
  // Its newest frame is as far behind as that of this check.
  const openAt = plan.secondsToOpening === null ? onGrid : after(plan.secondsToOpening);
  return { at: earlier(openAt, onGrid), confirming: false };
}

function troubleWaitSeconds({
  sight: { stream_trouble: trouble },
  maxLostWaitSeconds,
}: TickPlan): number | undefined {
  if (trouble?.reason === 'access_refused')
    return trouble.lost ? rules.watchRefusedSeconds : rules.streamGraceSeconds;
  const wait = backoffSeconds(trouble, rules.watchBackoffSeconds);
  return wait === undefined ? undefined : Math.min(wait, maxLostWaitSeconds);
}

/** Returns when the stream should have a segment that was not captured yet; undefined if it has none. */
function nextSegmentAt(outcome: WatchOutcome): Date | undefined {
  if (!('captured' in outcome)) return undefined;
  const { position, since } = outcome.captured.seen;
  return position.segment === null ? undefined : addSeconds(new Date(since), position.segment_seconds);
}

export function watchWakeUpTime(watch: WatchRun, now: Date): Date {
  const { next, config, sight, state } = watch;
  const troubleSeconds = sight.stream_trouble ? rules.watchRefusedSeconds : 0;
  const restartSeconds = state.failed_executions > 0 ? Math.max(...rules.watchBackoffSeconds) : 0;
  const waitSeconds = next?.closing ? rules.maxWatchWaitSeconds : Math.max(troubleSeconds, restartSeconds);
  return wakeUpTime(next, config.interval_seconds, waitSeconds, now);
}

import type { NewEvent } from '../event.ts';
import type { Counters, Failure, Job, Next, StopReason, WatchState } from '../job.ts';
import type { TerminalStatus } from '../transitions.ts';
import type { Verdict } from '../vision.ts';
import { unwatched, watchedAt } from './coverage.ts';
import { describeProgress, describeTrigger } from './describe-tick.ts';
import { rules } from './rules.ts';
import { addSeconds, earlier, nextOnGrid, secondsBetween, wholeSecond } from './schedule.ts';
import type { TickOutcome } from './tick-outcome.ts';

export type Ending = { status: TerminalStatus; reason: StopReason; failure?: Failure };

export type TickDecision = {
  counters: Counters;
  watch: WatchState;
  /** progress and watch_triggered; the events of the end are the end's own. */
  events: NewEvent[];
  next: Next;
  ending: Ending | undefined;
};

/** Everything that a tick decides, from the job as it was before, the outcome and the time. Pure. */
export function decideAfterTick(job: Job, outcome: TickOutcome, now: Date): TickDecision {
  const counters = count(job.counters, outcome);
  const watch = remember(job, outcome, now);
  const alerts = outcome.kind === 'looked' && mayAlert(job, outcome.verdict, now);
  if (alerts) {
    counters.triggers_fired += 1;
    watch.last_trigger_at = now.toISOString();
  }
  const ending = endOf(job, outcome, counters, watch, alerts, now);
  const next = wakeUp(job, outcome, watch, ending, now);
  const events: NewEvent[] = outcome.kind === 'due' ? [] : [describeProgress(job, outcome, counters, next)];
  if (alerts) events.push(describeTrigger(job, outcome, counters));
  return { counters, watch, events, next, ending };
}

function count(before: Counters, outcome: TickOutcome): Counters {
  const counters = { ...before };
  if (outcome.kind === 'looked') {
    counters.checks_performed += 1;
    counters.frames_captured += 1;
    counters.input_tokens += outcome.verdict.tokens.input_tokens;
    counters.output_tokens += outcome.verdict.tokens.output_tokens;
  }
  if (outcome.kind === 'missed') {
    counters.checks_missed += 1;
    counters.frames_captured += 1;
  }
  if (outcome.kind === 'skip') {
    counters.frames_skipped += 1;
    if (outcome.why === 'frozen') counters.frozen_frames += 1;
    if (outcome.why === 'black') counters.black_frames += 1;
  }
  if (outcome.kind === 'stale') counters.stale_captures += 1;
  if (outcome.kind === 'capture_failed') counters.failed_captures += 1;
  return counters;
}

function remember(job: Job, outcome: TickOutcome, now: Date): WatchState {
  const seen = watchedAt(job.watch, job.config.interval_seconds, now);
  const back = { failed_in_a_row: 0, lost_since: null };
  switch (outcome.kind) {
    case 'looked':
      return { ...seen, ...back, skipped_in_a_row: 0, missed_in_a_row: 0 };
    case 'skip':
      return { ...seen, ...back, skipped_in_a_row: job.watch.skipped_in_a_row + 1 };
    case 'missed':
      return { ...unwatched(job.watch, 'model'), ...back, missed_in_a_row: job.watch.missed_in_a_row + 1 };
    case 'stale':
      return lost(unwatched(job.watch, 'stale'), now);
    case 'capture_failed':
      return { ...lost(unwatched(job.watch, 'stream'), now), failed_in_a_row: job.watch.failed_in_a_row + 1 };
    case 'ended':
    case 'due':
      return { ...job.watch };
  }
}

function lost(watch: WatchState, now: Date): WatchState {
  return { ...watch, lost_since: watch.lost_since ?? now.toISOString() };
}

/** A verdict that holds alerts, unless the cooldown since the last alert still runs. */
function mayAlert(job: Job, verdict: Verdict, now: Date): boolean {
  if (!verdict.triggered) return false;
  const last = job.watch.last_trigger_at;
  return last === null || secondsBetween(last, now) >= job.config.trigger_cooldown_seconds;
}

function endOf(
  job: Job,
  outcome: TickOutcome,
  counters: Counters,
  watch: WatchState,
  alerts: boolean,
  now: Date,
): Ending | undefined {
  const { max_triggers: maxTriggers } = job.config;
  if (alerts && maxTriggers !== null && counters.triggers_fired >= maxTriggers) {
    return {
      status: 'completed',
      reason: maxTriggers === 1 ? 'condition_triggered' : 'max_triggers_reached',
    };
  }
  if (outcome.kind === 'due' || (job.deadline !== null && now >= new Date(job.deadline))) {
    return { status: 'stopped', reason: 'max_duration_reached' };
  }
  if (outcome.kind === 'ended') return { status: 'stopped', reason: 'stream_ended' };
  if (watch.lost_since !== null && secondsBetween(watch.lost_since, now) > rules.streamGraceSeconds) {
    return { status: 'failed', reason: 'stream_lost', failure: streamLost(outcome) };
  }
  if (outcome.kind === 'missed' && watch.missed_in_a_row >= rules.missedLooksAllowed) {
    return { status: 'failed', reason: 'vlm_error', failure: outcome.failure };
  }
  return undefined;
}

function streamLost(outcome: TickOutcome): Failure {
  const message = outcome.kind === 'capture_failed' ? outcome.message : 'Failed to fetch stream';
  return {
    code: 'STREAM_FETCH_FAILED',
    message,
    remediation: `The stream gave no new picture for more than ${rules.streamGraceSeconds} s. Check that it is live, then start a new job.`,
  };
}

function wakeUp(
  job: Job,
  outcome: TickOutcome,
  watch: WatchState,
  ending: Ending | undefined,
  now: Date,
): Next {
  const looked = outcome.kind === 'looked';
  const resolveAgain = outcome.kind === 'capture_failed';
  if (ending) {
    return {
      done: true,
      wait_until: wholeSecond(now).toISOString(),
      looked,
      closing: false,
      resolve_again: resolveAgain,
    };
  }
  const planned = nextWake(job, outcome, watch, now);
  const deadline = job.deadline === null ? undefined : new Date(job.deadline);
  const closing = deadline !== undefined && planned >= deadline;
  const wakeAt = closing ? deadline : planned;
  return {
    done: false,
    wait_until: wholeSecond(wakeAt).toISOString(),
    looked,
    closing,
    resolve_again: resolveAgain,
  };
}

function nextWake(job: Job, outcome: TickOutcome, watch: WatchState, now: Date): Date {
  const startedAt = job.started_at === null ? now : new Date(job.started_at);
  const planned = nextOnGrid(startedAt, job.config.interval_seconds, now);
  if (outcome.kind === 'stale') return earlier(planned, addSeconds(now, rules.staleRecheckSeconds));
  if (outcome.kind !== 'capture_failed') return planned;
  const waits = rules.captureBackoffSeconds;
  return addSeconds(now, waits[Math.min(watch.failed_in_a_row, waits.length) - 1] ?? 1);
}

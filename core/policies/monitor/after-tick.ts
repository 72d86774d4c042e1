import { recordModelWait } from '../../tick/coverage.ts';
import { recordOutcome } from '../../tick/record-outcome.ts';
import { createProgressEvent } from '../../tick/progress-event.ts';
import { modelFailureEnding, readTimes, streamLostEnding } from '../../tick/tick-outcome.ts';
import type { JobEnding, TickDecision, TickOutcome } from '../../tick/tick-outcome.ts';
import { nextCaptureAt, scheduleTick } from '../../tick/next-tick.ts';
import type { NewEvent } from '../../records/event.ts';
import type { Counters, JobOf, JobSight } from '../../records/job.ts';
import type { MonitorState } from './records.ts';
import type { NextTick } from '../../records/run-base.ts';
import { toShownKey } from '../../stream/shown-frame.ts';
import { ageSeconds } from '../../time.ts';
import type { Verdict } from '../../records/vision.ts';

/** Decides a tick of a monitor: alert, cooldown, end of the job, next tick. */
export function decideMonitorTick(
  job: JobOf<'monitor'>,
  outcome: TickOutcome,
  now: Date,
  stretch = 1,
): TickDecision & { state: MonitorState } {
  const { counters, sight } = recordOutcome(job, outcome, now, stretch);
  const alerts = outcome.kind === 'judged' && mayAlert(job, outcome.verdict, now);
  if (alerts) {
    counters.triggers_fired += 1;
    if (sight.last_frame && outcome.verdict.shown_at_seconds === undefined)
      sight.last_frame = { ...sight.last_frame, evidence: true };
  }
  const ending = findEnding(job, outcome, counters, sight, alerts, now);
  const next = ending
    ? scheduleTick(job, now, outcome, sight, { done: true })
    : planNextCheck(job, outcome, sight, now, stretch);
  const events: NewEvent[] =
    outcome.kind === 'no_capture' ? [] : [createProgressEvent(job, outcome, counters, next)];
  if (alerts) events.push(createTriggerEvent(job, outcome, counters));
  const { askedAt } = readTimes(outcome, now);
  const state = alerts ? { last_trigger_at: now.toISOString() } : job.state;
  return { counters, sight: recordModelWait(job, sight, askedAt, now), state, events, next, ending };
}

/** A verdict that holds fires an alert, except during the cooldown after the last one. */
function mayAlert(job: JobOf<'monitor'>, verdict: Verdict, now: Date): boolean {
  if (!verdict.triggered) return false;
  const { last_trigger_at: last } = job.state;
  return last === null || ageSeconds(last, now) >= job.config.trigger_cooldown_seconds;
}

function findEnding(
  job: JobOf<'monitor'>,
  outcome: TickOutcome,
  counters: Counters,
  sight: JobSight,
  alerts: boolean,
  now: Date,
): JobEnding | undefined {
  const { max_triggers: maxTriggers } = job.config;
  if (alerts && maxTriggers !== null && counters.triggers_fired >= maxTriggers) {
    return {
      status: 'completed',
      reason: maxTriggers === 1 ? 'condition_triggered' : 'max_triggers_reached',
    };
  }
  const lost = streamLostEnding(job, outcome, sight, now);
  if (lost) return lost;
  if (outcome.kind === 'no_capture' || (job.deadline !== null && now >= new Date(job.deadline))) {
    return { status: 'stopped', reason: 'max_duration_reached' };
  }
  if (outcome.kind === 'ended') return { status: 'stopped', reason: 'stream_ended' };
  return modelFailureEnding(sight);
}

/** A check at or after the deadline is omitted: the job wakes at the deadline and ends. */
function planNextCheck(
  job: JobOf<'monitor'>,
  outcome: TickOutcome,
  sight: JobSight,
  now: Date,
  stretch: number,
): NextTick {
  const planned = nextCaptureAt(job, sight, now, stretch);
  const deadline = job.deadline === null ? undefined : new Date(job.deadline);
  const isOver = deadline !== undefined && planned >= deadline;
  return scheduleTick(job, isOver ? deadline : planned, outcome, sight, { closing: isOver, stretch });
}

/** Creates the alert: condition, explanation of the model, and evidence. */
function createTriggerEvent(
  job: JobOf<'monitor'>,
  outcome: Extract<TickOutcome, { kind: 'judged' }>,
  counters: Counters,
): NewEvent {
  const { boxes, shown_at_seconds: atSeconds, prompt_version } = outcome.verdict;
  const { frame_key: frameKey } = outcome.captured;
  return {
    type: 'watch_triggered',
    data: {
      condition: job.config.condition,
      triggered: true,
      explanation: outcome.verdict.explanation,
      prefilter_skipped: false,
      frame_key: atSeconds === undefined ? frameKey : toShownKey(frameKey, atSeconds),
      captured_at: outcome.captured.captured_at,
      triggers_fired: counters.triggers_fired,
      ...(boxes === undefined ? {} : { boxes }),
      ...(prompt_version === undefined ? {} : { prompt_version }),
    },
  };
}

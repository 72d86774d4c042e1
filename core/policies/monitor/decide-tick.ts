import { recordModelWait } from '../job/coverage.ts';
import { recordOutcome } from '../job/record-outcome.ts';
import { createProgressEvent } from '../job/progress.ts';
import { modelFailureEnding, readTimes, streamLostEnding } from '../job/outcome.ts';
import type { EarlierVerdict, JobEnding, TickDecision, JobOutcome } from '../job/outcome.ts';
import { nextCaptureAt, scheduleTick } from '../job/next-tick.ts';
import type { NewEvent } from '../../records/event.ts';
import type { Counters, JobOf, JobSight } from '../../records/job.ts';
import type { MonitorState } from './records.ts';
import type { NextTick } from '../../records/run-base.ts';
import { toShownKey } from '../../stream/shown-frame.ts';
import { confirmApartSeconds } from '../../sight/sure-visit.ts';
import { momentTime } from '../../sight/moment-time.ts';
import { ageSeconds, later } from '../../time.ts';

/** Decides a tick of a monitor: alert, cooldown, end of the job, next tick. */
export function decideMonitorTick(
  job: JobOf<'monitor'>,
  outcome: JobOutcome,
  now: Date,
  stretch = 1,
): TickDecision & { state: MonitorState } {
  const { counters, sight } = recordOutcome(job, outcome, now, stretch);
  const triggers = listTriggers(job, outcome, now);
  const alerts = triggers.length > 0;
  counters.triggers_fired += triggers.length;
  if (sight.last_frame && triggers.some(({ frame_key: key }) => key === sight.last_frame?.key))
    sight.last_frame = { ...sight.last_frame, evidence: true };
  const ending = findEnding(job, outcome, counters, sight, alerts, now);
  const next = ending
    ? scheduleTick(job, now, outcome, sight, { done: true })
    : planNextCheck(job, outcome, sight, now, stretch);
  const events: NewEvent[] =
    outcome.kind === 'no_capture' ? [] : [createProgressEvent(job, outcome, counters, next)];
  const firedBefore = counters.triggers_fired - triggers.length;
  for (const [index, trigger] of triggers.entries())
    events.push(createTriggerEvent(job, trigger, firedBefore + index + 1));
  const { askedAt } = readTimes(outcome, now);
  const last = triggers.at(-1);
  const state = last ? { last_trigger_at: last.at.toISOString() } : job.state;
  return { counters, sight: recordModelWait(job, sight, askedAt, now), state, events, next, ending };
}

/** Verdict that fires an alert, at its time on the clock of this service. */
type Trigger = EarlierVerdict & { at: Date };

/**
 * Lists the verdicts that fire an alert, in time order: those that hold, except during the cooldown after the one
 * before, until the job has its last.
 */
function listTriggers(job: JobOf<'monitor'>, outcome: JobOutcome, now: Date): Trigger[] {
  if (outcome.kind !== 'judged') return [];
  const { config, state, counters } = job;
  const { captured, verdict, earlier: moments = [] } = outcome;
  // Moments are before the next capture's, whose times count from its begin too.
  const newestAt = config.look_back ? readTimes(outcome, now).at : now;
  const all: Trigger[] = [
    ...moments.map((moment) => ({ ...moment, at: momentTime(moment.captured_at, captured, newestAt) })),
    { frame_key: shownKey(outcome), captured_at: captured.captured_at, verdict, at: newestAt },
  ];
  const left = (config.max_triggers ?? Infinity) - counters.triggers_fired;
  let last = state.last_trigger_at === null ? null : new Date(state.last_trigger_at);
  let lastHere: Date | undefined;
  const fired: Trigger[] = [];
  for (const trigger of all) {
    if (!trigger.verdict.triggered || fired.length >= left) continue;
    if (last !== null && ageSeconds(last, trigger.at) < config.trigger_cooldown_seconds) continue;
    // Several frames of one shadow are one mistake of the model.
    if (lastHere && ageSeconds(lastHere, trigger.at) < confirmApartSeconds) continue;
    last = later(last ?? trigger.at, trigger.at);
    lastHere = trigger.at;
    fired.push({ ...trigger, at: last });
  }
  return fired;
}

function shownKey({ verdict, captured }: Extract<JobOutcome, { kind: 'judged' }>): string {
  const { shown_at_seconds: atSeconds } = verdict;
  return atSeconds === undefined ? captured.frame_key : toShownKey(captured.frame_key, atSeconds);
}

function findEnding(
  job: JobOf<'monitor'>,
  outcome: JobOutcome,
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
  outcome: JobOutcome,
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
  { config }: JobOf<'monitor'>,
  { verdict, frame_key, captured_at }: Trigger,
  fired: number,
): NewEvent {
  const { explanation, boxes, prompt_version } = verdict;
  return {
    type: 'watch_triggered',
    data: {
      condition: config.condition,
      triggered: true,
      explanation,
      prefilter_skipped: false,
      frame_key,
      captured_at,
      triggers_fired: fired,
      ...(boxes === undefined ? {} : { boxes }),
      ...(prompt_version === undefined ? {} : { prompt_version }),
    },
  };
}

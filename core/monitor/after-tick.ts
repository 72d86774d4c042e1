import { account } from '../decision/account.ts';
import { describeProgress } from '../decision/describe-progress.ts';
import { lostStream, silentModel } from '../decision/failure.ts';
import type { Ending, TickDecision } from '../decision/tick-decision.ts';
import type { TickOutcome } from '../decision/tick-outcome.ts';
import { nextCaptureAt, nothingFollows, wakeAt } from '../decision/wake-up.ts';
import type { NewEvent } from '../event.ts';
import type { Counters, MonitorJob, Next, WatchState } from '../job.ts';
import { ageSeconds } from '../time.ts';
import type { Verdict } from '../vision.ts';
import { describeTrigger } from './describe-trigger.ts';

/** What a monitor's tick decides: alert, cooldown, end, next look. */
export function decideMonitorTick(job: MonitorJob, outcome: TickOutcome, now: Date): TickDecision {
  const { counters, watch } = account(job, outcome, now);
  const alerts = outcome.kind === 'looked' && mayAlert(job, outcome.verdict, now);
  if (alerts) {
    counters.triggers_fired += 1;
    watch.last_trigger_at = now.toISOString();
    if (watch.last_frame) watch.last_frame = { ...watch.last_frame, evidence: true };
  }
  const ending = endOf(job, outcome, counters, watch, alerts, now);
  const next = ending ? nothingFollows(outcome, now) : nextLook(job, outcome, watch, now);
  const events: NewEvent[] = outcome.kind === 'due' ? [] : [describeProgress(job, outcome, counters, next)];
  if (alerts) events.push(describeTrigger(job, outcome, counters));
  return { counters, watch, events, next, ending };
}

/** A verdict that holds alerts, unless the cooldown since the last alert still runs. */
function mayAlert(job: MonitorJob, verdict: Verdict, now: Date): boolean {
  if (!verdict.triggered) return false;
  const last = job.watch.last_trigger_at;
  return last === null || ageSeconds(last, now) >= job.config.trigger_cooldown_seconds;
}

function endOf(
  job: MonitorJob,
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
  const missed = outcome.kind === 'missed' ? outcome.failure : undefined;
  return lostStream(outcome, watch, now) ?? silentModel(missed, watch);
}

/** A look that would come at the deadline or later is left out: the job wakes at the deadline, and only ends. */
function nextLook(job: MonitorJob, outcome: TickOutcome, watch: WatchState, now: Date): Next {
  const planned = nextCaptureAt(job, watch, now);
  const deadline = job.deadline === null ? undefined : new Date(job.deadline);
  return deadline !== undefined && planned >= deadline
    ? wakeAt(deadline, true, outcome, watch)
    : wakeAt(planned, false, outcome, watch);
}

import { applyRunChange } from '../../event/stored-run.ts';
import { assignSequences, type NewEvent } from '../../records/event.ts';
import type { Job } from '../../records/job.ts';
import type { JobChange, JobPatch } from '../../ports/runs.ts';
import type { TickInput } from '../../records/workflow.ts';
import { addSeconds } from '../../time.ts';
import { advanceRun } from '../../tick/advance-run.ts';
import { watchSeconds } from './coverage.ts';
import type { TickDecision, JobEnding } from './outcome.ts';

/** Plans the one transaction of a tick: its events, the new numbers of the job, and its end if the tick ends it. */
export function planTick(
  job: Job,
  decision: TickDecision,
  input: TickInput,
  retentionSeconds: number,
  now: Date,
): JobChange {
  const set: JobPatch = {
    ...advanceRun(job, decision.next, input, now),
    counters: decision.counters,
    sight: decision.sight,
    state: decision.state,
  };
  if (decision.ending)
    return planEnd(job, decision.ending, retentionSeconds, now, { set, events: decision.events });
  return planUpdate(job, { set, events: decision.events }, now);
}

/** Plans the change of a job that does not end with it. */
export function planUpdate(job: Job, { set, events }: JobUpdate, now: Date): JobChange {
  return {
    runId: job.run_id,
    expectedVersion: job.version,
    set: { ...set, sequence: job.sequence + events.length },
    events: assignSequences(events, job.run_id, job.sequence, now),
  };
}

/** Changes of a tick, or the last summaries of a digest; the end of a job is committed in one transaction with them. */
export type JobUpdate = { set: JobPatch; events: NewEvent[] };

/**
 * Plans the change that ends a job: its final state, its last events (`error` for a failure, then `job_stopped`), the
 * free slot and the totals.
 */
export function planEnd(
  job: Job,
  ending: JobEnding,
  retentionSeconds: number,
  now: Date,
  lastWork?: JobUpdate,
): JobChange {
  const counters = lastWork?.set.counters ?? job.counters;
  const ended: JobPatch = {
    ...lastWork?.set,
    handed_over: null,
    status: ending.status,
    reason: ending.reason,
    failure: ending.failure ?? null,
    ended_at: now.toISOString(),
    expires_at: addSeconds(now, retentionSeconds).toISOString(),
  };
  const events = [
    ...(lastWork?.events ?? []),
    ...finalEvents(ending, applyRunChange(job, { set: ended }), now),
  ];
  return {
    runId: job.run_id,
    expectedVersion: job.version,
    set: { ...ended, sequence: job.sequence + events.length },
    events: assignSequences(events, job.run_id, job.sequence, now),
    releasesSlotOf: job.caller,
    totalsDelta: {
      jobs_completed: ending.status === 'completed' ? 1 : 0,
      jobs_stopped: ending.status === 'stopped' ? 1 : 0,
      jobs_failed: ending.status === 'failed' ? 1 : 0,
      ...counters,
    },
  };
}

function finalEvents(ending: JobEnding, ended: Job, now: Date): NewEvent[] {
  const stopped: NewEvent = {
    type: 'job_stopped',
    data: {
      status: ending.status,
      reason: ending.reason,
      checks_performed: ended.counters.checks_performed,
      triggers_fired: ended.counters.triggers_fired,
      frames_skipped: ended.counters.frames_skipped,
      auto_stopped: ending.reason === 'max_duration_reached',
      watch_duration_seconds: watchSeconds(ended, now),
    },
  };
  return ending.failure ? [{ type: 'error', data: ending.failure }, stopped] : [stopped];
}

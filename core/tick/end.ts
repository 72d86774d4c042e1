import type { NewEvent } from '../records/event.ts';
import { assignSequences } from '../records/event.ts';
import type { Job } from '../records/job.ts';
import type { JobChange, JobPatch } from '../ports/job-store.ts';
import { transitions } from '../records/transitions.ts';
import { ageSeconds } from '../time.ts';
import { addSeconds } from '../schedule.ts';
import type { JobEnding } from './tick-decision.ts';

/** Changes of a tick, or the last summaries of a digest; the end of a job is committed in one transaction with them. */
export type JobUpdate = { set: JobPatch; events: NewEvent[] };

/**
 * The change that ends a job: its final state, its last events (`error` for a failure, then `job_stopped`), the free slot and the totals.
 * `from` is narrower with last work than without: a pending job has done none.
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
  const events = [...(lastWork?.events ?? []), ...finalEvents(job, ending, { ...job, ...ended }, now)];
  return {
    jobId: job.job_id,
    from: lastWork ? transitions.tick.from : transitions.end.from,
    expectedSequence: job.sequence,
    set: { ...ended, sequence: job.sequence + events.length },
    events: assignSequences(events, job.job_id, job.sequence, now),
    releasesSlotOf: job.caller,
    totalsDelta: {
      jobs_completed: ending.status === 'completed' ? 1 : 0,
      jobs_stopped: ending.status === 'stopped' ? 1 : 0,
      jobs_failed: ending.status === 'failed' ? 1 : 0,
      ...counters,
    },
  };
}

function finalEvents(job: Job, ending: JobEnding, ended: Job, now: Date): NewEvent[] {
  const stopped: NewEvent = {
    type: 'job_stopped',
    data: {
      status: ending.status,
      reason: ending.reason,
      checks_performed: ended.counters.checks_performed,
      triggers_fired: ended.counters.triggers_fired,
      frames_skipped: ended.counters.frames_skipped,
      auto_stopped: ending.reason === 'max_duration_reached',
      watch_duration_seconds: job.started_at === null ? 0 : ageSeconds(job.started_at, now),
    },
  };
  return ending.failure ? [{ type: 'error', data: ending.failure }, stopped] : [stopped];
}

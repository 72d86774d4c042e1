import { assignSequences } from '../records/event.ts';
import type { Job } from '../records/job.ts';
import type { JobChange } from '../ports/job-store.ts';
import { transitions } from '../records/transitions.ts';
import { durationSeconds } from '../tick/cadence.ts';
import { addSeconds } from '../schedule.ts';
import { leaseUntil } from '../tick/tick-change.ts';

/** Pending to running: durations count from here. */
export function planBegin(job: Job, now: Date): JobChange {
  return {
    jobId: job.job_id,
    from: transitions.begin.from,
    expectedSequence: job.sequence,
    set: {
      status: 'running',
      started_at: now.toISOString(),
      deadline: addSeconds(now, durationSeconds(job)).toISOString(),
      lease_until: leaseUntil(now),
      watch: { ...job.watch, last_watched_at: now.toISOString() },
      sequence: job.sequence + 1,
    },
    events: assignSequences(
      [{ type: 'job_started', data: { job_type: job.job_type, status: 'running', config: job.config } }],
      job.job_id,
      job.sequence,
      now,
    ),
  };
}

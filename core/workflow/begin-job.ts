import type { CoreDeps } from '../dependencies.ts';
import type { JobChange } from '../ports/job-store.ts';
import { jobLog } from '../ports/log.ts';
import { assignSequences } from '../records/event.ts';
import { applyJobChange } from '../records/job.ts';
import type { Job } from '../records/job.ts';
import { jobTypes } from '../records/job-type.ts';
import { durationSeconds, intervalSeconds, leaseUntil } from '../tick/next-tick.ts';
import { addSeconds } from '../time.ts';

type Deps = Pick<CoreDeps, 'jobs' | 'log' | 'now'>;

/** Starts a pending job; with bursts, a running one takes the next burst number. */
export async function beginJob(job: Job, bursts: boolean, deps: Deps) {
  const isPending = job.status === 'pending';
  if (isPending) {
    const started = planBegin(job, deps.now());
    if ((await deps.jobs.commit(started)) !== 'committed') return undefined;
    const log = jobLog(deps.log, job.run_id);
    log.info('Job started', { interval_seconds: intervalSeconds(job) });
    // Read again: the begin of a burst is a commit of its own.
    if (bursts) return undefined;
    return begun(applyJobChange(job, started));
  }
  if (!bursts) return begun(job);
  const { run_id: runId, version: expectedVersion } = job;
  const taken = { runId, expectedVersion, set: { burst: job.burst + 1 }, events: [] };
  return (await deps.jobs.commit(taken)) === 'committed' ? begun(applyJobChange(job, taken)) : undefined;
}

function begun(stored: Job) {
  return { stored, closing: false };
}

/** Plans the change from pending to running. The duration of the job counts from here. */
function planBegin(job: Job, now: Date): JobChange {
  return {
    runId: job.run_id,
    expectedVersion: job.version,
    set: {
      status: 'running',
      started_at: now.toISOString(),
      deadline: addSeconds(now, durationSeconds(job)).toISOString(),
      lease_until: leaseUntil(now),
      sight: { ...job.sight, counted_until: now.toISOString() },
      sequence: job.sequence + 1,
    },
    events: assignSequences([{ type: 'job_started', data: startedData(job) }], job.run_id, job.sequence, now),
  };
}

function startedData({ policy, config, notices }: Job) {
  const job_type = jobTypes[policy];
  return { job_type, status: 'running' as const, config, ...(notices.length > 0 && { notices }) };
}

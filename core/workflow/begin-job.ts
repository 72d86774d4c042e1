import type { CoreDeps } from '../dependencies.ts';
import { publishEvents } from '../event/publish.ts';
import type { JobChange, JobPatch } from '../ports/job-store.ts';
import { jobLog } from '../ports/log.ts';
import type { Job } from '../records/job.ts';
import { applyJobChange, planUpdate } from '../tick/job-change.ts';
import { durationSeconds, intervalSeconds, leaseUntil } from '../tick/next-tick.ts';
import { addSeconds } from '../time.ts';

type Deps = Pick<CoreDeps, 'jobs' | 'queue' | 'log' | 'now'>;

/** Starts a pending job; with bursts, a running one takes the next burst number. */
export async function beginJob(job: Job, bursts: boolean, deps: Deps) {
  const isPending = job.status === 'pending';
  if (isPending) {
    const started = planBegin(job, deps.now());
    if ((await deps.jobs.commit(started)) !== 'committed') return undefined;
    const log = jobLog(deps.log, job.job_id);
    log.info('Job started', { interval_seconds: intervalSeconds(job) });
    await publishEvents(job.job_id, deps);
    // Read again: the begin of a burst is a commit of its own.
    if (bursts) return undefined;
    return begun(applyJobChange(job, started));
  }
  if (!bursts) return begun(job);
  const taken = planUpdate(job, { set: { burst: job.burst + 1 }, events: [] }, deps.now());
  return (await deps.jobs.commit(taken)) === 'committed' ? begun(applyJobChange(job, taken)) : undefined;
}

function begun(stored: Job) {
  return { stored, capture: { seen: stored.seen, motion: stored.handed_over, closing: false } };
}

/** Plans the change from pending to running. The duration of the job counts from here. */
function planBegin(job: Job, now: Date): JobChange {
  const set: JobPatch = {
    status: 'running',
    started_at: now.toISOString(),
    deadline: addSeconds(now, durationSeconds(job)).toISOString(),
    lease_until: leaseUntil(now),
    sight: { ...job.sight, last_watched_at: now.toISOString() },
  };
  return planUpdate(job, { set, events: [{ type: 'job_started', data: startedData(job) }] }, now);
}

function startedData({ job_type, config, notices }: Job) {
  return { job_type, status: 'running' as const, config, ...(notices.length > 0 && { notices }) };
}

import type { CoreDeps } from '../dependencies.ts';
import { publishEvents } from '../event/publish.ts';
import type { JobChange } from '../ports/job-store.ts';
import { jobLog } from '../ports/log.ts';
import { assignSequences } from '../records/event.ts';
import { transitions } from '../records/job.ts';
import type { Job } from '../records/job.ts';
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
    return begun({ ...job, ...started.set });
  }
  if (!bursts) return begun(job);
  const set = { burst: job.burst + 1 };
  const { job_id: jobId, sequence: expectedSequence } = job;
  const taken = { jobId, from: transitions.tick.from, expectedSequence, set, events: [] };
  return (await deps.jobs.commit(taken)) === 'committed' ? begun({ ...job, ...set }) : undefined;
}

function begun(stored: Job) {
  const capture = stored.handed_over ?? { seen: null, motion: null };
  return { stored, capture: { ...capture, closing: false } };
}

/** Plans the change from pending to running. The duration of the job counts from here. */
function planBegin(job: Job, now: Date): JobChange {
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
    events: assignSequences([{ type: 'job_started', data: startedData(job) }], job.job_id, job.sequence, now),
  };
}

function startedData({ job_type, config, notices }: Job) {
  return { job_type, status: 'running' as const, config, ...(notices.length > 0 && { notices }) };
}

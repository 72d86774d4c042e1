import type { CoreDeps } from '../dependencies.ts';
import { durationSeconds, intervalSeconds, leaseUntil, wakeUpTime } from '../tick/next-tick.ts';
import { assignSequences } from '../records/event.ts';
import type { JobChange } from '../ports/job-store.ts';
import { addSeconds } from '../time.ts';
import { committed, conflict, retryConflicts } from '../retry-conflicts.ts';
import type { CommitAttempt } from '../retry-conflicts.ts';
import type { Job } from '../records/job.ts';
import { jobLog } from '../ports/log.ts';
import { isTerminal, transitions } from '../records/job.ts';
import type { AnalyzeInput, WorkflowState } from '../records/workflow.ts';
import { publishEvents } from '../event/publish.ts';

type Deps = Pick<CoreDeps, 'jobs' | 'queue' | 'log' | 'now'>;
type BeginInput = Omit<Extract<AnalyzeInput, { operation: 'begin' }>, 'operation'>;

/**
 * Handles `begin`: starts a pending job, resumes a running one (a repeated step, or the next generation), reports an ended one as done. With
 * `bursts`, a running job takes the next burst number, which ends the ticks of an abandoned burst.
 */
export async function beginJob(input: BeginInput, deps: Deps): Promise<WorkflowState> {
  return retryConflicts('The job changed too often while it was to begin', attempt);

  async function attempt(): Promise<CommitAttempt<WorkflowState>> {
    const job = await deps.jobs.get(input.job_id, deps.now());
    if (!job || isTerminal(job.status) || job.generation > input.generation)
      return committed(finished(input, job));
    if (job.status === 'running') return input.bursts ? takeBurst(job) : committed(resume(job, deps.now()));
    if ((await deps.jobs.commit(planBegin(job, deps.now()))) !== 'committed') return conflict;
    jobLog(deps.log, job.job_id).info('Job started', { interval_seconds: intervalSeconds(job) });
    await publishEvents(job.job_id, deps);
    return attempt();
  }

  async function takeBurst(job: Job): Promise<CommitAttempt<WorkflowState>> {
    const set = { burst: job.burst + 1 };
    const { job_id: jobId, sequence: expectedSequence } = job;
    const change = { jobId, from: transitions.tick.from, expectedSequence, set, events: [] };
    if ((await deps.jobs.commit(change)) !== 'committed') return conflict;
    return committed({ ...resume(job, deps.now()), ...set, over: false, rests: false });
  }
}

function finished({ job_id, generation, bursts }: BeginInput, job: Job | undefined): WorkflowState {
  return {
    job_id,
    generation,
    done: true,
    ...(bursts && { over: true, rests: false }),
    wait_until: new Date(0).toISOString(),
    capture: {
      source_id: job?.source_id ?? job_id,
      tick: (job?.last_tick ?? 0) + 1,
      closing: true,
      resolve_again: false,
      seen: null,
      motion: null,
    },
  };
}

function resume(job: Job, now: Date): WorkflowState {
  return {
    job_id: job.job_id,
    generation: job.generation,
    done: false,
    wait_until: wakeUpTime(job, now).toISOString(),
    capture: {
      source_id: job.source_id,
      tick: job.last_tick + 1,
      closing: job.next?.closing ?? false,
      resolve_again: job.next?.resolve_again ?? false,
      ...(job.handed_over ?? { seen: null, motion: null }),
    },
  };
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

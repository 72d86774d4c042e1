import type { CoreDeps } from '../dependencies.ts';
import { planBegin } from './plan-begin.ts';
import { intervalSeconds } from '../tick/cadence.ts';
import { wakeUpTime } from '../tick/next-tick.ts';
import { TransientError } from '../errors.ts';
import type { Job } from '../records/job.ts';
import { jobLog } from '../ports/log.ts';
import { isTerminal } from '../records/transitions.ts';
import type { ExecutionInput, WorkflowState } from '../records/workflow.ts';
import { publishEvents } from '../event/publish-events.ts';

type Deps = Pick<CoreDeps, 'jobs' | 'queue' | 'log' | 'now'>;

/** How often an operation builds its change anew when others were faster. */
const tries = 5;

/**
 * The workflow's first step, and its way back in: a pending job starts running, a running one (a repeated step, or the
 * next generation) goes on where its last tick left it, an ended one is done.
 */
export async function beginJob(input: ExecutionInput, deps: Deps): Promise<WorkflowState> {
  for (let attempt = 0; attempt < tries; attempt += 1) {
    const job = await deps.jobs.get(input.job_id, deps.now());
    if (!job || isTerminal(job.status) || job.generation > input.generation) return finished(input, job);
    if (job.status === 'running') return onward(job, deps.now());
    if ((await deps.jobs.commit(planBegin(job, deps.now()))) === 'committed') {
      jobLog(deps.log, job.job_id).info('Job started', { interval_seconds: intervalSeconds(job) });
      await publishEvents(job.job_id, deps);
    }
  }
  throw new TransientError('The job changed too often while it was to begin');
}

function finished(input: ExecutionInput, job: Job | undefined): WorkflowState {
  return {
    ...input,
    done: true,
    wait_until: new Date(0).toISOString(),
    capture: {
      source_id: job?.source_id ?? input.job_id,
      tick: (job?.last_tick ?? 0) + 1,
      closing: true,
      resolve_again: false,
      seen: null,
      motion: null,
    },
  };
}

function onward(job: Job, now: Date): WorkflowState {
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

import type { Collaborators } from '../collaborators.ts';
import type { Ending } from '../decision/after-tick.ts';
import { planEnd } from '../decision/end.ts';
import { JobAlreadyStoppedError, JobNotFoundError, TransientError } from '../errors.ts';
import type { Job } from '../job.ts';
import { jobLog } from '../ports/log.ts';
import { isTerminal } from '../transitions.ts';
import { publishEvents } from './publish-events.ts';

type Needs = Pick<Collaborators, 'jobs' | 'queue' | 'executions' | 'log' | 'limits' | 'now'>;

const tries = 8;

/** Stops a job for its caller. Truth first: the execution is stopped after the job has ended, and by itself where that is lost. */
export async function cancelJob(jobId: string, caller: string, c: Needs): Promise<Job> {
  const job = await c.jobs.get(jobId, c.now());
  if (job?.caller !== caller) throw new JobNotFoundError();
  const ended = await endJob(jobId, { status: 'stopped', reason: 'cancelled' }, c);
  if (!ended) throw new JobAlreadyStoppedError();
  return ended;
}

/** Ends a job that cannot go on: an unexpected error of the workflow, or a lost one. Harmless when it has ended. */
export async function failJob(jobId: string, remediation: string, c: Needs): Promise<void> {
  await endJob(
    jobId,
    {
      status: 'failed',
      reason: 'internal_error',
      failure: { code: 'INTERNAL_ERROR', message: 'Internal server error', remediation },
    },
    c,
  );
}

/** undefined: the job is gone or had ended already. */
async function endJob(jobId: string, ending: Ending, c: Needs): Promise<Job | undefined> {
  for (let attempt = 0; attempt < tries; attempt += 1) {
    const now = c.now();
    const job = await c.jobs.get(jobId, now);
    if (!job || isTerminal(job.status)) return undefined;
    const change = planEnd(job, ending, c.limits.retentionSeconds, now);
    if ((await c.jobs.commit(change)) !== 'committed') continue;
    jobLog(c.log, jobId).info('Job ended', { status: ending.status, reason: ending.reason });
    await afterEnd(job, ending, c);
    return { ...job, ...change.set };
  }
  throw new TransientError('The job changed too often while it was to end');
}

async function afterEnd(job: Job, ending: Ending, c: Needs): Promise<void> {
  await c.executions.stop({ job_id: job.job_id, generation: job.generation }, ending.reason);
  await publishEvents(job.job_id, c);
}

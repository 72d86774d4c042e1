import type { Collaborators, Limits } from '../collaborators.ts';
import { onClock, withMovedTimes } from '../decision/clock-change.ts';
import { planEnd } from '../decision/end.ts';
import type { Work } from '../decision/end.ts';
import { rules } from '../decision/rules.ts';
import { planWork } from '../decision/tick-change.ts';
import type { Ending } from '../decision/tick-decision.ts';
import { closeWindows } from '../digest/close-windows.ts';
import { closingOfEnd, withoutRetry } from '../digest/closing.ts';
import type { ClosedWindows, Closing } from '../digest/closing.ts';
import { JobAlreadyStoppedError, JobNotFoundError, TransientError } from '../errors.ts';
import type { DigestJob, Job } from '../job.ts';
import { jobLog } from '../ports/log.ts';
import { ageSeconds } from '../time.ts';
import { isTerminal } from '../transitions.ts';
import { publishEvents } from './publish-events.ts';

type Needs = Pick<Collaborators, 'jobs' | 'queue' | 'executions' | 'log' | 'now'> & {
  limits: Pick<Limits, 'retentionSeconds'>;
};

export type CancelNeeds = Needs & Pick<Collaborators, 'summaries'>;

const tries = 8;

/**
 * Stops a job for its caller; of a digest the open window is summarised first, as far as the model answers in time. Truth first: the
 * execution is stopped after the job has ended, and by itself where that is lost.
 */
export async function cancelJob(jobId: string, caller: string, c: CancelNeeds): Promise<Job> {
  const askedAt = c.now();
  const job = await c.jobs.get(jobId, askedAt);
  if (job?.caller !== caller) throw new JobNotFoundError();
  const ended = await endJob(jobId, { status: 'stopped', reason: 'cancelled' }, c, {
    workBefore: (current) => lastSummaries(current, askedAt, c),
  });
  if (!ended) throw new JobAlreadyStoppedError();
  return ended;
}

/**
 * Ends a job that cannot continue: its workflow failed, or it is lost. Has no effect on an ended job, and on one for which `mustFail` is false: it
 * is checked on each state that the end is built on, since a tick or a hand-over may be committed at any time.
 */
export async function failJob(
  jobId: string,
  remediation: string,
  c: Needs,
  mustFail: (job: Job) => boolean = () => true,
): Promise<void> {
  await endJob(
    jobId,
    {
      status: 'failed',
      reason: 'internal_error',
      failure: { code: 'INTERNAL_ERROR', message: 'Internal server error', remediation },
    },
    c,
    { mustEnd: mustFail },
  );
}

/** `complete`: nothing more is to be done before the end. */
type LastWork = Work & { complete: boolean };

type EndOptions = {
  mustEnd?: (job: Job) => boolean;
  workBefore?: (job: Job) => Promise<LastWork | undefined>;
};

/** Returns undefined if the job is gone, had ended already, or need not end (`mustEnd`). */
async function endJob(
  jobId: string,
  ending: Ending,
  c: Needs,
  { mustEnd = () => true, workBefore = async () => undefined }: EndOptions,
): Promise<Job | undefined> {
  for (let conflicts = 0; conflicts < tries;) {
    const stored = await c.jobs.get(jobId, c.now());
    if (!stored || isTerminal(stored.status) || !mustEnd(stored)) return undefined;
    const work = await workBefore(stored);
    const now = c.now();
    const job = onClock(stored, now);
    const goesOn = work && !work.complete;
    const planned = goesOn
      ? planWork(job, work, now)
      : planEnd(job, ending, c.limits.retentionSeconds, now, work);
    const change = withMovedTimes(planned, stored, job);
    if ((await c.jobs.commit(change)) !== 'committed') conflicts += 1;
    else if (!goesOn) {
      jobLog(c.log, jobId).info('Job ended', { status: ending.status, reason: ending.reason });
      await afterEnd(job, ending, c);
      return { ...job, ...change.set };
    }
  }
  throw new TransientError('The job changed too often while it was to end');
}

/** The windows that are open when their caller cancels, with what the model says of them in the time that is left. */
async function lastSummaries(stored: Job, askedAt: Date, c: CancelNeeds): Promise<LastWork | undefined> {
  const job = onClock(stored, c.now());
  if (job.job_type !== 'live-digest' || job.status !== 'running') return undefined;
  const seconds = Math.max(0, rules.lastSummarySeconds - ageSeconds(askedAt, c.now()));
  const closing = closingOfEnd(job, job.digest, c.now());
  const closed = await lastWord(job, closing, c, seconds);
  const { events, ...set } = closeWindows(job, job, closed, c.now());
  return { set, events, complete: closing.last };
}

/** Whatever goes wrong costs the summary, never the cancellation. */
async function lastWord(
  job: DigestJob,
  closing: Closing,
  c: CancelNeeds,
  seconds: number,
): Promise<ClosedWindows> {
  try {
    return withoutRetry(await c.summaries.summarize(job, closing, seconds));
  } catch (error) {
    jobLog(c.log, job.job_id).error('No last summary was made', { error: String(error) });
    return { closing, result: { kind: 'none', why: 'the model could not be asked.' }, gridKey: null };
  }
}

async function afterEnd(job: Job, ending: Ending, c: Needs): Promise<void> {
  await publishEvents(job.job_id, c);
  try {
    await c.executions.stop({ job_id: job.job_id, generation: job.generation }, ending.reason);
  } catch (error) {
    jobLog(c.log, job.job_id).warning('Execution not stopped; it finds the job ended', {
      error: String(error),
    });
  }
}

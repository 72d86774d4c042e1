import { applyRunChange } from '../event/stored-run.ts';
import type { CoreDeps, Limits } from '../dependencies.ts';
import { onClock } from '../sight/clock-change.ts';
import { mapJobTimes, withMovedTimes } from '../policies/job/map-times.ts';
import { planEnd, planUpdate } from '../policies/job/plan-change.ts';
import { rules } from '../rules.ts';
import type { JobEnding } from '../policies/job/outcome.ts';
import { closeUnasked, finalizeClosure } from '../policies/digest/window-closure.ts';
import { withDecisions } from '../policies/job-policies.ts';
import type { FinalUpdate } from '../policies/job/policy.ts';
import type { ClosureResult, WindowClosure } from '../records/window-closure.ts';
import { JobAlreadyStoppedError, JobNotFoundError } from '../errors.ts';
import type { Executions } from '../ports/executions.ts';
import type { RunStore } from '../ports/runs.ts';
import { isTerminal, type JobOf, type Job } from '../records/job.ts';
import { asJob } from '../records/run.ts';
import { jobLog } from '../ports/observability.ts';
import { ageSeconds } from '../time.ts';
import { committed, conflict, retryConflicts, type CommitAttempt } from '../retry-conflicts.ts';

type Deps = Pick<CoreDeps, 'log' | 'now'> & {
  runs: Pick<RunStore, 'get' | 'commit'>;
  executions: Pick<Executions, 'stop'>;
  limits: Pick<Limits, 'retentionSeconds'>;
};

export type CancelDeps = Deps & Pick<CoreDeps, 'summaries'>;

/**
 * Cancels a job. The open windows of a digest are summarized first, if the model responds in time. The execution is
 * stopped after the end is committed; if that fails, it finds the job ended.
 */
export async function cancelJob(jobId: string, caller: string, deps: CancelDeps): Promise<Job> {
  const askedAt = deps.now();
  const job = asJob(await deps.runs.get(jobId, askedAt));
  if (job?.caller !== caller) throw new JobNotFoundError(deps.limits.retentionSeconds);
  let answered: ClosureResult | undefined;
  const ended = await endJob(jobId, { status: 'stopped', reason: 'cancelled' }, deps, {
    close: async (current, closing) => {
      if (answered && isAnswered(answered.closing, closing)) return { ...answered, closing };
      answered = await summarizeOrGiveUp(current, closing, askedAt, deps);
      return answered;
    },
  });
  if (!ended) throw new JobAlreadyStoppedError();
  return ended;
}

/**
 * Ends a job that cannot continue: its workflow failed, or it is lost. The windows of a digest are closed without the
 * model. Has no effect on an ended job, and on one for which `mustFail` is false: it is checked on each state that the
 * end is built on, since a tick or a hand-over may be committed at any time.
 */
export async function failJob(
  jobId: string,
  remediation: string,
  deps: Deps,
  mustFail: (job: Job) => boolean = () => true,
): Promise<void> {
  await endJob(
    jobId,
    {
      status: 'failed',
      reason: 'internal_error',
      failure: { code: 'INTERNAL_ERROR', message: 'Internal server error', remediation },
    },
    deps,
    { mustEnd: mustFail, close: async (_, closing) => closeUnasked(closing) },
  );
}

type EndOptions = {
  mustEnd?: (job: Job) => boolean;
  close: (job: JobOf<'digest'>, closing: WindowClosure) => Promise<ClosureResult>;
};

/** Returns undefined if the job is gone, had ended already, or need not end (`mustEnd`). */
async function endJob(
  jobId: string,
  ending: JobEnding,
  deps: Deps,
  { mustEnd = () => true, close }: EndOptions,
): Promise<Job | undefined> {
  let hasClosed = false;
  return retryConflicts('The job changed too often while it was to end', attempt);

  async function attempt(): Promise<CommitAttempt<Job | undefined>> {
    const stored = asJob(await deps.runs.get(jobId, deps.now()));
    // A tick may end the job after the first of several windows: their state has its end.
    if (stored && hasClosed && stored.reason === ending.reason) return committed(stored);
    if (!stored || isTerminal(stored.status) || !mustEnd(stored)) return committed(undefined);
    const work = await finish(stored, ending, close, deps);
    const now = deps.now();
    const job = onClock(stored, now, mapJobTimes);
    const isPartial = work && !work.complete;
    const planned = isPartial
      ? planUpdate(job, work, now)
      : planEnd(job, ending, deps.limits.retentionSeconds, now, work);
    const change = withMovedTimes(planned, stored, job);
    if ((await deps.runs.commit(change)) !== 'committed') return conflict;
    hasClosed = true;
    if (isPartial) return attempt();
    jobLog(deps.log, jobId).info('Job ended', { status: ending.status, reason: ending.reason });
    await afterEnd(job, ending, deps);
    return committed(applyRunChange(job, change));
  }
}

/** Returns the last events of a running job that ends outside of a tick; closes the windows that end with it. */
async function finish(
  stored: Job,
  ending: JobEnding,
  close: EndOptions['close'],
  deps: Deps,
): Promise<FinalUpdate | undefined> {
  const endedAt = deps.now();
  const running = onClock(stored, endedAt, mapJobTimes);
  if (running.status !== 'running') return undefined;
  return withDecisions(running, async (job, decisions) => {
    const last = decisions.lastWindows?.(job, ending, endedAt);
    const closed = last && (await close(last.job, last.closing));
    return decisions.finish?.(job, { at: endedAt, closed }, deps.now());
  });
}

/**
 * Returns true if the answer for `asked` stays valid for `closing`: a picture that a tick took meanwhile is not worth
 * another call of the model.
 */
function isAnswered(asked: WindowClosure, closing: WindowClosure): boolean {
  const keys = new Set(closing.samples.map(({ frame_key: key }) => key));
  return asked.samples.length === 0
    ? keys.size === 0
    : asked.samples.every((sample) => keys.has(sample.frame_key));
}

/**
 * Returns a closure without a summary if the model call is impossible: a cancellation never fails because of its
 * summary.
 */
async function summarizeOrGiveUp(
  job: JobOf<'digest'>,
  closing: WindowClosure,
  askedAt: Date,
  deps: CancelDeps,
): Promise<ClosureResult> {
  const seconds = Math.max(0, rules.cancelSummaryTimeoutSeconds - ageSeconds(askedAt, deps.now()));
  try {
    return finalizeClosure(await deps.summaries.summarize(job, closing, seconds));
  } catch (error) {
    jobLog(deps.log, job.run_id).error('No last summary was made', { error: String(error) });
    return { closing, result: { kind: 'none', why: 'the model could not be asked.' }, gridKey: null };
  }
}

async function afterEnd(job: Job, ending: JobEnding, deps: Deps): Promise<void> {
  try {
    await deps.executions.stop({ run_id: job.run_id, generation: job.generation }, ending.reason);
  } catch (error) {
    jobLog(deps.log, job.run_id).warning('Execution not stopped; it finds the job ended', {
      error: String(error),
    });
  }
}

import { jobLog } from '../ports/log.ts';
import { isTerminal } from '../records/job.ts';
import { analyzeInputSchema, captureInputSchema } from '../records/workflow.ts';
import type { AnalyzeInput, CaptureOutput, WorkflowState } from '../records/workflow.ts';
import type { CoreDeps } from '../dependencies.ts';
import { failJob } from '../job/end-job.ts';
import { analyze, startNextGeneration } from './analyze.ts';
import { begin, finishedState } from './begin.ts';
import { modelSeconds } from './burst.ts';
import { captureTick } from './capture-tick.ts';
import type { CaptureDeps } from './capture-tick.ts';
import { createJobRuns } from './job-runs.ts';
import type { JobRunDeps } from './job-runs.ts';
import { startAfterFailure } from './repair-watches.ts';
import { createWatchRuns } from './watch-runs.ts';
import type { WatchRunDeps } from './watch-runs.ts';

/** Task handlers of `run.asl.json` (JSON in, JSON out), called by Step Functions and by the scheduler of one machine. */

export async function captureTask(
  input: unknown,
  deps: CaptureDeps,
  signal?: AbortSignal,
): Promise<CaptureOutput> {
  return captureTick(captureInputSchema.parse(input), deps, signal);
}

export async function analyzeTask(
  input: unknown,
  deps: AnalyzeTaskDeps,
  signal?: AbortSignal,
): Promise<WorkflowState | ClosedStep> {
  const task: AnalyzeInput = analyzeInputSchema.parse(input);
  switch (task.operation) {
    case 'begin':
      return beginTask(task, deps);
    case 'analyze': {
      const { visionTimeoutSeconds } = deps.limits;
      const seconds = modelSeconds(task, visionTimeoutSeconds, deps.now());
      const ticking = { ...deps, limits: { ...deps.limits, visionTimeoutSeconds: seconds } };
      return task.capture.kind === 'watch'
        ? analyze(task, createWatchRuns(ticking), deps, signal)
        : analyze(task, createJobRuns(ticking), deps, signal);
    }
    case 'close':
      await Promise.all([restartIfWatch(task, deps), failIfJob(task, deps)]);
      return { job_id: task.job_id, done: true };
  }
}

type ClosedStep = { job_id: string; done: true };
export type AnalyzeTaskDeps = JobRunDeps & WatchRunDeps & Pick<CoreDeps, 'executions' | 'pace'>;

async function beginTask(
  task: Extract<AnalyzeInput, { operation: 'begin' }>,
  deps: AnalyzeTaskDeps,
): Promise<WorkflowState> {
  if (await deps.jobs.get(task.job_id, deps.now())) return begin(task, createJobRuns(deps), deps);
  if (await deps.watches.get(task.job_id, deps.now())) return begin(task, createWatchRuns(deps), deps);
  return finishedState(task, undefined, task.bursts ?? false);
}

/** Starts the next generation of a watch whose workflow failed: a watch never fails. */
async function restartIfWatch(
  { job_id, generation, failure }: Extract<AnalyzeInput, { operation: 'close' }>,
  deps: AnalyzeTaskDeps,
): Promise<void> {
  const stored = await deps.watches.get(job_id, deps.now());
  const isCurrent = stored?.generation === generation && stored.state.causes.paused === null;
  if (isCurrent) await startAfterFailure(stored, `${failure.Error}: ${failure.Cause ?? ''}`, deps);
}

/**
 * Fails the job of a workflow that failed. A job that was handed over to its next generation does not depend on this workflow: it continues, and
 * its next execution is started in case that start was what failed.
 */
async function failIfJob(
  task: Extract<AnalyzeInput, { operation: 'close' }>,
  deps: AnalyzeTaskDeps,
): Promise<void> {
  const job = await deps.jobs.get(task.job_id, deps.now());
  if (!job) return;
  jobLog(deps.log, task.job_id).error('Workflow failed', {
    error: task.failure.Error,
    cause: task.failure.Cause ?? null,
  });
  if (!isTerminal(job.status)) await startNextGeneration(job, task, deps);
  await failJob(
    task.job_id,
    'The job failed unexpectedly. Start it again; the operator finds the cause in the logs.',
    { ...deps, executions: { ...deps.executions, stop: endsByItself } },
    (current) => current.generation <= task.generation,
  );
}

/** Does not stop its own execution: Step Functions would report it as aborted, and no alarm would fire. */
const endsByItself = async (): Promise<void> => undefined;

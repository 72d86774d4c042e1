import { jobLog } from '../ports/log.ts';
import { analyzeInputSchema, captureInputSchema } from '../records/workflow.ts';
import type { AnalyzeInput, CaptureOutput, WorkflowState } from '../records/workflow.ts';
import { analyzeTick, startNextGeneration } from './analyze-tick.ts';
import { analyzeWatchTick } from './analyze-watch.ts';
import type { AnalyzeWatchDeps } from './analyze-watch.ts';
import { beginWatch } from './begin-watch.ts';
import type { AnalyzeDeps } from './analyze-tick.ts';
import { beginJob } from './begin-job.ts';
import { captureTick } from './capture-tick.ts';
import type { CaptureDeps } from './capture-tick.ts';
import { failJob } from '../job/end-job.ts';
import { startAfterFailure } from './repair-watches.ts';

/** Task handlers of `watch.asl.json` (JSON in, JSON out), called by Step Functions and by the scheduler of one machine. */

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
      return (await isWatch(task.job_id, deps)) ? beginWatch(task, deps) : beginJob(task, deps);
    case 'analyze':
      return task.capture.kind === 'watch'
        ? analyzeWatchTick(task, deps, signal)
        : analyzeTick(task, deps, signal);
    case 'close':
      return (await isWatch(task.job_id, deps)) ? restartWatchTask(task, deps) : failJobTask(task, deps);
  }
}

type ClosedStep = { job_id: string; done: true };
type AnalyzeTaskDeps = AnalyzeDeps & AnalyzeWatchDeps;

/** Returns true for an execution of a watch. The input names no kind, so that executions of earlier releases can be read. */
async function isWatch(id: string, { jobs, watches, now }: AnalyzeTaskDeps): Promise<boolean> {
  if (await jobs.get(id, now())) return false;
  return (await watches.get(id)) !== undefined;
}

/** Starts the next generation of a watch whose workflow failed: a watch never fails. */
async function restartWatchTask(
  { job_id, generation, failure }: Extract<AnalyzeInput, { operation: 'close' }>,
  deps: AnalyzeTaskDeps,
): Promise<ClosedStep> {
  const stored = await deps.watches.get(job_id);
  const isCurrent = stored?.run.generation === generation && stored.run.state.causes.paused === null;
  if (isCurrent) await startAfterFailure(stored, `${failure.Error}: ${failure.Cause ?? ''}`, deps);
  return { job_id, done: true };
}

/**
 * Fails the job of a workflow that failed. A job that was handed over to its next generation does not depend on this workflow: it continues, and
 * its next execution is started in case that start was what failed.
 */
async function failJobTask(
  task: Extract<AnalyzeInput, { operation: 'close' }>,
  deps: AnalyzeDeps,
): Promise<ClosedStep> {
  jobLog(deps.log, task.job_id).error('Workflow failed', {
    error: task.failure.Error,
    cause: task.failure.Cause ?? null,
  });
  const job = await deps.jobs.get(task.job_id, deps.now());
  if (job) await startNextGeneration(job, task, deps);
  await failJob(
    task.job_id,
    'The watch failed unexpectedly. Start the job again; the operator finds the cause in the logs.',
    { ...deps, executions: { ...deps.executions, stop: endsByItself } },
    (current) => current.generation <= task.generation,
  );
  return { job_id: task.job_id, done: true };
}

/** Does not stop its own execution: Step Functions would report it as aborted, and no alarm would fire. */
const endsByItself = async (): Promise<void> => undefined;

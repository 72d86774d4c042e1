import { jobLog } from '../ports/log.ts';
import { analyzeInputSchema, captureInputSchema } from '../workflow.ts';
import type { AnalyzeInput, CaptureOutput, Step } from '../workflow.ts';
import { analyzeTick } from './analyze-tick.ts';
import type { AnalyzeNeeds } from './analyze-tick.ts';
import { beginJob } from './begin-job.ts';
import { captureTick } from './capture-tick.ts';
import type { CaptureNeeds } from './capture-tick.ts';
import { failJob } from './end-job.ts';
import { startNextGeneration } from './start-next-generation.ts';

/** What the two resources of `watch.asl.json` do, whichever engine calls them: JSON in, JSON out. */

export async function captureTask(
  input: unknown,
  c: CaptureNeeds,
  signal?: AbortSignal,
): Promise<CaptureOutput> {
  return captureTick(captureInputSchema.parse(input), c, signal);
}

export async function analyzeTask(
  input: unknown,
  c: AnalyzeNeeds,
  signal?: AbortSignal,
): Promise<Step | ClosedStep> {
  const task: AnalyzeInput = analyzeInputSchema.parse(input);
  switch (task.operation) {
    case 'begin':
      return beginJob({ job_id: task.job_id, generation: task.generation }, c);
    case 'analyze':
      return analyzeTick(task, c, signal);
    case 'close':
      return close(task, c);
  }
}

type ClosedStep = { job_id: string; done: true };

/**
 * Fails the job of a workflow that failed. A job that was handed over to its next generation does not depend on this workflow: it continues, and
 * its next execution is started in case that start was what failed.
 */
async function close(
  task: Extract<AnalyzeInput, { operation: 'close' }>,
  c: AnalyzeNeeds,
): Promise<ClosedStep> {
  jobLog(c.log, task.job_id).error('Workflow failed', {
    error: task.failure.Error,
    cause: task.failure.Cause ?? null,
  });
  const job = await c.jobs.get(task.job_id, c.now());
  if (job) await startNextGeneration(job, task, c);
  await failJob(
    task.job_id,
    'The watch failed unexpectedly. Start the job again; the operator finds the cause in the logs.',
    { ...c, executions: { ...c.executions, stop: endsByItself } },
    (current) => current.generation <= task.generation,
  );
  return { job_id: task.job_id, done: true };
}

/** The execution that closes its job goes on to its own end, as failed. Stopped from within it would count as aborted, of which no operator is told. */
const endsByItself = async (): Promise<void> => undefined;

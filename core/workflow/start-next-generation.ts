import type { CoreDeps } from '../dependencies.ts';
import type { Job } from '../records/job.ts';
import { isTerminal } from '../records/job.ts';
import type { ExecutionInput } from '../records/workflow.ts';

/**
 * Starts the execution of the job's current generation if the job was handed over from `generation`: the history of an execution is finite.
 * Has no effect on an ended job, and if the execution was started before.
 */
export async function startNextGeneration(
  job: Job,
  { generation }: Pick<ExecutionInput, 'generation'>,
  deps: Pick<CoreDeps, 'executions'>,
): Promise<void> {
  if (isTerminal(job.status) || job.generation <= generation) return;
  await deps.executions.start({ job_id: job.job_id, generation: job.generation });
}

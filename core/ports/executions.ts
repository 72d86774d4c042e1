import type { ExecutionInput } from '../records/workflow.ts';

/**
 * Executions of jobs and watches: by Step Functions, or by the scheduler of one machine. A failed start or stop is not
 * fatal: `reconcile` repeats it.
 */
export interface Executions {
  /** Starts `<run_id>-<generation>`. Returns 'already' if an execution has that name, running or ended. */
  start(input: ExecutionInput): Promise<'started' | 'already'>;
  /** Stops the execution if it is running. */
  stop(input: ExecutionInput, cause: string): Promise<void>;
  /**
   * Returns undefined if the execution was never started, and 'not_running' if that is all that is known: a start then
   * tells whether it has ended.
   */
  status(
    input: ExecutionInput,
  ): Promise<'running' | 'succeeded' | 'failed' | 'aborted' | 'not_running' | undefined>;
  /** Returns true if this process runs the execution: then the job is not lost, even if its lease has expired. */
  runsHere(input: ExecutionInput): boolean;
}

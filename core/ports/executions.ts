import type { ExecutionInput } from '../records/workflow.ts';

/** The workflow engine's runs of jobs (glossary: execution). Starting and stopping are hints: `reconcile` replays them. */
export interface Executions {
  /** Starts `<job_id>-<generation>`; 'already' when that name is taken, running or ended. */
  start(input: ExecutionInput): Promise<'started' | 'already'>;
  /** Stops it if it runs; harmless otherwise. */
  stop(input: ExecutionInput, cause: string): Promise<void>;
  /** undefined: never started. */
  status(input: ExecutionInput): Promise<'running' | 'succeeded' | 'failed' | 'aborted' | undefined>;
  /** Returns true if this very process runs the execution: then it is not lost, however long it has been silent. */
  runsHere(input: ExecutionInput): boolean;
}

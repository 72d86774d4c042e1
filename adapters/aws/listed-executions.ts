import type { Executions } from '../../core/ports/executions.ts';
import { executionName } from '../../core/records/workflow.ts';

/**
 * Returns executions whose status is that of a list of running ones: a name that it lacks is 'not_running'. The list lags by seconds, so a job
 * is lost only if a start confirms that its execution has ended.
 */
export function useListedStatus(executions: Executions, running: ReadonlySet<string>): Executions {
  return {
    ...executions,
    status: async (input) => (running.has(executionName(input)) ? 'running' : 'not_running'),
  };
}

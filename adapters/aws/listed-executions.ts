import { z } from 'zod';
import type { Executions } from '../../core/ports/executions.ts';
import { executionName } from '../../core/records/workflow.ts';
import { throwCoreError } from './aws-error.ts';
import type { JsonCall } from './requests/json-calls.ts';

export type ListRunningOptions = {
  /** Calls of Step Functions. */
  states: JsonCall;
  stateMachineArns: readonly string[];
  /** Maximum requests: Step Functions refills 2 to 5 per second. */
  maxPages: number;
};

/** Maximum of `ListExecutions`. */
const pageSize = 1000;

/**
 * Lists the names of all running executions: one request per thousand, where `DescribeExecution` needs one each. Returns undefined if there
 * are more than the pages hold. Throws `TransientError`.
 */
export async function listRunning(options: ListRunningOptions): Promise<string[] | undefined> {
  const { states, stateMachineArns, maxPages } = options;
  const names: string[] = [];
  let pages = 0;
  for (const stateMachineArn of stateMachineArns) {
    let nextToken: string | undefined;
    do {
      if ((pages += 1) > maxPages) return undefined;
      const input = {
        stateMachineArn,
        statusFilter: 'RUNNING',
        maxResults: pageSize,
        ...(nextToken !== undefined && { nextToken }),
      };
      const page = pageSchema.parse(await states('ListExecutions', input).catch(throwCoreError));
      names.push(...page.executions.map(({ name }) => name));
      nextToken = page.nextToken;
    } while (nextToken !== undefined);
  }
  return names;
}

const pageSchema = z.object({
  executions: z.array(z.object({ name: z.string() })),
  nextToken: z
    .string()
    .nullish()
    .transform((token) => token ?? undefined),
});

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

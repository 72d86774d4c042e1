import {
  DescribeExecutionCommand,
  ExecutionAlreadyExists,
  ExecutionDoesNotExist,
  paginateListExecutions,
  SFNClient,
  StartExecutionCommand,
  StopExecutionCommand,
} from '@aws-sdk/client-sfn';
import type { ExecutionStatus } from '@aws-sdk/client-sfn';
import type { Executions } from '../../core/ports/executions.ts';
import { executionName, type ExecutionInput } from '../../core/records/workflow.ts';
import { executionArn } from './execution-name.ts';
import { throwCoreError, toCoreError } from './aws-error.ts';
import { clientSettings } from './client-settings.ts';

/** Step Functions client (default: one of its own) and state machines. */
export type ExecutionsOptions = {
  client?: SFNClient;
  /** State machine that executions are started on. */
  stateMachineArn: string;
  /** State machine of the other mode (`burstSeconds`): its executions continue after the mode was changed. */
  otherStateMachineArn?: string | undefined;
};

/** Executions, and a list of those that run. */
export type StateMachineExecutions = Executions & {
  /**
   * Lists the names of all running executions: one request per thousand, where `status` needs one each. Returns
   * undefined if there are more than the pages hold: Step Functions refills 2 to 5 requests per second.
   */
  listRunning: (maxPages: number) => Promise<string[] | undefined>;
};

/**
 * Creates executions on Step Functions. A name is reserved for 90 days after its execution ended, so each
 * generation starts once. Its methods throw `TransientError`.
 */
export function createExecutions({
  client = new SFNClient(clientSettings),
  stateMachineArn,
  otherStateMachineArn,
}: ExecutionsOptions): StateMachineExecutions {
  const machines = [stateMachineArn, otherStateMachineArn].filter((arn) => arn !== undefined);
  const toArns = (input: ExecutionInput): string[] =>
    machines.map((arn) => executionArn(arn, executionName(input)));
  return {
    start: async (input) => {
      try {
        const name = executionName(input);
        await client.send(new StartExecutionCommand({ stateMachineArn, name, input: JSON.stringify(input) }));
        return 'started';
      } catch (error) {
        if (error instanceof ExecutionAlreadyExists) return 'already';
        return throwCoreError(error);
      }
    },
    stop: async (input, cause) => {
      for (const arn of toArns(input)) {
        try {
          await client.send(new StopExecutionCommand({ executionArn: arn, cause }));
        } catch (error) {
          // Stopping an ended execution is no error. An execution that was never started does not exist.
          if (!(error instanceof ExecutionDoesNotExist)) throwCoreError(error);
        }
      }
    },
    status: async (input) => {
      for (const arn of toArns(input)) {
        try {
          const { status } = await client.send(new DescribeExecutionCommand({ executionArn: arn }));
          if (status !== undefined) return statuses[status];
        } catch (error) {
          if (!(error instanceof ExecutionDoesNotExist)) return throwCoreError(error);
        }
      }
      return undefined;
    },
    runsHere: () => false,
    listRunning: async (maxPages) => {
      const names: string[] = [];
      let pages = 0;
      for (const machine of machines) {
        const input = { stateMachineArn: machine, statusFilter: 'RUNNING' } as const;
        try {
          for await (const { executions = [], nextToken } of paginateListExecutions(
            { client, pageSize },
            input,
          )) {
            names.push(...executions.flatMap(({ name }) => name ?? []));
            pages += 1;
            if (pages >= maxPages && nextToken !== undefined) return undefined;
          }
        } catch (error) {
          throw toCoreError(error);
        }
      }
      return names;
    },
  };
}

/** Maximum of `ListExecutions`. */
const pageSize = 1000;

const statuses = {
  RUNNING: 'running',
  // A redrive that is about to start.
  PENDING_REDRIVE: 'running',
  SUCCEEDED: 'succeeded',
  FAILED: 'failed',
  TIMED_OUT: 'failed',
  ABORTED: 'aborted',
} as const satisfies Record<ExecutionStatus, string>;

import {
  DescribeExecutionCommand,
  ExecutionAlreadyExists,
  ExecutionDoesNotExist,
  StartExecutionCommand,
  StopExecutionCommand,
} from '@aws-sdk/client-sfn';
import type { ExecutionStatus, SFNClient } from '@aws-sdk/client-sfn';
import type { Executions } from '../../core/ports/executions.ts';
import { executionName } from '../../core/records/workflow.ts';
import type { ExecutionInput } from '../../core/records/workflow.ts';
import { executionArn } from './execution-name.ts';
import { throwCoreError } from './aws-error.ts';

/** Step Functions client and state machine of `watch.asl.json`. */
export type ExecutionsOptions = { client: SFNClient; stateMachineArn: string };

/**
 * Creates executions on Step Functions. A name is reserved for 90 days after its execution ended, so each
 * generation starts once. Its methods throw `TransientError`.
 */
export function createExecutions({ client, stateMachineArn }: ExecutionsOptions): Executions {
  const toArn = (input: ExecutionInput): string => executionArn(stateMachineArn, executionName(input));
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
      try {
        await client.send(new StopExecutionCommand({ executionArn: toArn(input), cause }));
      } catch (error) {
        // Stopping an ended execution is no error. An execution that was never started does not exist.
        if (!(error instanceof ExecutionDoesNotExist)) throwCoreError(error);
      }
    },
    status: async (input) => {
      try {
        const { status } = await client.send(new DescribeExecutionCommand({ executionArn: toArn(input) }));
        return status === undefined ? undefined : statuses[status];
      } catch (error) {
        if (error instanceof ExecutionDoesNotExist) return undefined;
        return throwCoreError(error);
      }
    },
    runsHere: () => false,
  };
}

const statuses = {
  RUNNING: 'running',
  // A redrive that is about to start.
  PENDING_REDRIVE: 'running',
  SUCCEEDED: 'succeeded',
  FAILED: 'failed',
  TIMED_OUT: 'failed',
  ABORTED: 'aborted',
} as const satisfies Record<ExecutionStatus, string>;

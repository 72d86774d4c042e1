import {
  DescribeExecutionCommand,
  ExecutionAlreadyExists,
  ExecutionDoesNotExist,
  StartExecutionCommand,
  StopExecutionCommand,
} from '@aws-sdk/client-sfn';
import type { ExecutionStatus, SFNClient } from '@aws-sdk/client-sfn';
import type { Executions } from '../../core/ports/executions.ts';
import type { ExecutionInput } from '../../core/workflow.ts';
import { executionArn, executionName } from './execution-name.ts';
import { failed } from './platform-error.ts';

export type ExecutionsOptions = { client: SFNClient; stateMachineArn: string };

/** Runs of `watch.asl.json` on Step Functions. A name stays taken for 90 days after its end, so a job's run is started once. */
export function createExecutions({ client, stateMachineArn }: ExecutionsOptions): Executions {
  const arnOf = (input: ExecutionInput): string => executionArn(stateMachineArn, executionName(input));
  return {
    start: async (input) => {
      try {
        const name = executionName(input);
        await client.send(new StartExecutionCommand({ stateMachineArn, name, input: JSON.stringify(input) }));
        return 'started';
      } catch (error) {
        if (error instanceof ExecutionAlreadyExists) return 'already';
        return failed(error);
      }
    },
    stop: async (input, cause) => {
      try {
        await client.send(new StopExecutionCommand({ executionArn: arnOf(input), cause }));
      } catch (error) {
        // One that has ended is stopped again without an error; one that was never started is none.
        if (!(error instanceof ExecutionDoesNotExist)) failed(error);
      }
    },
    status: async (input) => {
      try {
        const { status } = await client.send(new DescribeExecutionCommand({ executionArn: arnOf(input) }));
        return status === undefined ? undefined : statuses[status];
      } catch (error) {
        if (error instanceof ExecutionDoesNotExist) return undefined;
        return failed(error);
      }
    },
    runsHere: () => false,
  };
}

const statuses = {
  RUNNING: 'running',
  // A redrive that is about to run again.
  PENDING_REDRIVE: 'running',
  SUCCEEDED: 'succeeded',
  FAILED: 'failed',
  TIMED_OUT: 'failed',
  ABORTED: 'aborted',
} as const satisfies Record<ExecutionStatus, string>;

import { z } from 'zod';
import type { Executions } from '../../core/ports/executions.ts';
import { executionName } from '../../core/records/workflow.ts';
import type { ExecutionInput } from '../../core/records/workflow.ts';
import { executionArn } from './execution-name.ts';
import { hasName, throwCoreError } from './aws-error.ts';
import type { JsonCall } from './requests/json-calls.ts';

/** Calls of Step Functions and state machines. */
export type ExecutionsOptions = {
  states: JsonCall;
  /** State machine that executions are started on. */
  stateMachineArn: string;
  /** State machine of the other mode (`burstSeconds`): its executions continue after the mode was changed. */
  otherStateMachineArn?: string | undefined;
};

/**
 * Creates executions on Step Functions. A name is reserved for 90 days after its execution ended, so each
 * generation starts once. Its methods throw `TransientError`.
 */
export function createExecutions({
  states,
  stateMachineArn,
  otherStateMachineArn,
}: ExecutionsOptions): Executions {
  const toArns = (input: ExecutionInput): string[] =>
    [stateMachineArn, otherStateMachineArn].flatMap((arn) =>
      arn === undefined ? [] : executionArn(arn, executionName(input)),
    );
  return {
    start: async (input) => {
      try {
        const name = executionName(input);
        await states('StartExecution', { stateMachineArn, name, input: JSON.stringify(input) });
        return 'started';
      } catch (error) {
        if (hasName(error, 'ExecutionAlreadyExists')) return 'already';
        return throwCoreError(error);
      }
    },
    stop: async (input, cause) => {
      for (const executionArn of toArns(input)) {
        try {
          await states('StopExecution', { executionArn, cause });
        } catch (error) {
          // Stopping an ended execution is no error. An execution that was never started does not exist.
          if (!hasName(error, 'ExecutionDoesNotExist')) throwCoreError(error);
        }
      }
    },
    status: async (input) => {
      for (const executionArn of toArns(input)) {
        try {
          const { status } = describedSchema.parse(await states('DescribeExecution', { executionArn }));
          return statuses[status];
        } catch (error) {
          if (!hasName(error, 'ExecutionDoesNotExist')) return throwCoreError(error);
        }
      }
      return undefined;
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
} as const;

const describedSchema = z.object({
  status: z.enum(['RUNNING', 'PENDING_REDRIVE', 'SUCCEEDED', 'FAILED', 'TIMED_OUT', 'ABORTED']),
});

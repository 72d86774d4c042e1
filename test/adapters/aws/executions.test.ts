import { beforeEach, describe, expect, test, vi } from 'vitest';
import { executionName } from '../../../core/records/workflow.ts';
import { readExecutionName } from '../../../adapters/aws/execution-name.ts';
import { createExecutions } from '../../../adapters/aws/executions.ts';
import type { JsonCall } from '../../../adapters/aws/requests/json-calls.ts';
import { TransientError } from '../../../core/errors.ts';
import { serviceError } from './requests/local-requests.ts';

const states = vi.fn<JsonCall>();
const stateMachineArn = 'arn:aws:states:eu-west-1:123456789012:stateMachine:watchpost';
const executions = createExecutions({ states, stateMachineArn });
const input = { job_id: '0c4c1c5e-7a53-4f2c-9b3f-1f0a5ad1e001', generation: 2 };
const arn =
  'arn:aws:states:eu-west-1:123456789012:execution:watchpost:0c4c1c5e-7a53-4f2c-9b3f-1f0a5ad1e001-2';

beforeEach(() => void states.mockReset().mockResolvedValue({}));

describe('executions on Step Functions', () => {
  test('an execution is named by job and generation and gets both as input', async () => {
    expect(await executions.start(input)).toBe('started');

    expect(states).toHaveBeenCalledExactlyOnceWith('StartExecution', {
      stateMachineArn,
      name: '0c4c1c5e-7a53-4f2c-9b3f-1f0a5ad1e001-2',
      input: JSON.stringify(input),
    });
  });

  test('a name that is in use or was used is an execution that has started', async () => {
    states.mockRejectedValue(serviceError('ExecutionAlreadyExists'));

    expect(await executions.start(input)).toBe('already');
  });

  test('stopping an execution that never started has no effect', async () => {
    states.mockRejectedValue(serviceError('ExecutionDoesNotExist'));

    await executions.stop(input, 'cancelled');

    expect(states).toHaveBeenCalledExactlyOnceWith('StopExecution', {
      executionArn: arn,
      cause: 'cancelled',
    });
  });

  test.each([
    ['RUNNING', 'running'],
    ['PENDING_REDRIVE', 'running'],
    ['SUCCEEDED', 'succeeded'],
    ['FAILED', 'failed'],
    ['TIMED_OUT', 'failed'],
    ['ABORTED', 'aborted'],
  ] as const)('an execution in state %s is %s', async (status, expected) => {
    states.mockResolvedValue({ status });

    expect(await executions.status(input)).toBe(expected);
    expect(states).toHaveBeenCalledExactlyOnceWith('DescribeExecution', { executionArn: arn });
  });

  test('an execution that never started has no status', async () => {
    states.mockRejectedValue(serviceError('ExecutionDoesNotExist'));

    expect(await executions.status(input)).toBeUndefined();
  });

  test('throttling is a TransientError, a missing permission is not', async () => {
    states
      .mockRejectedValueOnce(serviceError('ThrottlingException'))
      .mockRejectedValueOnce(serviceError('AccessDeniedException'));

    await expect(executions.start(input)).rejects.toThrow(TransientError);
    await expect(executions.start(input)).rejects.toMatchObject({ name: 'AccessDeniedException' });
  });
});

describe('execution name', () => {
  test('an execution name is parsed back', () => {
    expect(readExecutionName(executionName(input))).toEqual(input);
  });

  test.each(['', 'a-1', '0c4c1c5e-7a53-4f2c-9b3f-1f0a5ad1e001', '0c4c1c5e-7a53-4f2c-9b3f-1f0a5ad1e001-x'])(
    'the name of another execution is undefined: %j',
    (name) => {
      expect(readExecutionName(name)).toBeUndefined();
    },
  );
});

describe('executions of the other mode', () => {
  const otherStateMachineArn = `${stateMachineArn}-jobs`;
  const both = createExecutions({ states, stateMachineArn, otherStateMachineArn });
  const otherArn = arn.replace(':watchpost:', ':watchpost-jobs:');

  test('an execution that runs on the state machine of the other mode is not missing', async () => {
    states
      .mockRejectedValueOnce(serviceError('ExecutionDoesNotExist'))
      .mockResolvedValueOnce({ status: 'RUNNING' });

    expect(await both.status(input)).toBe('running');
    expect(states.mock.calls).toEqual([
      ['DescribeExecution', { executionArn: arn }],
      ['DescribeExecution', { executionArn: otherArn }],
    ]);
  });

  test('an execution is stopped on both state machines and started on the current one', async () => {
    states.mockRejectedValueOnce(serviceError('ExecutionDoesNotExist'));

    await both.stop(input, 'cancelled');
    await both.start(input);

    expect(states.mock.calls).toEqual([
      ['StopExecution', { executionArn: arn, cause: 'cancelled' }],
      ['StopExecution', { executionArn: otherArn, cause: 'cancelled' }],
      ['StartExecution', expect.objectContaining({ stateMachineArn })],
    ]);
  });
});

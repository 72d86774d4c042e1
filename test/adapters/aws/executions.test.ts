import {
  DescribeExecutionCommand,
  ExecutionAlreadyExists,
  ExecutionDoesNotExist,
  ListExecutionsCommand,
  SFNClient,
  SFNServiceException,
  StartExecutionCommand,
  StopExecutionCommand,
} from '@aws-sdk/client-sfn';
import { mockClient } from 'aws-sdk-client-mock';
import { beforeEach, describe, expect, test } from 'vitest';
import { executionName } from '../../../core/records/workflow.ts';
import { readExecutionName } from '../../../adapters/aws/execution-name.ts';
import { createExecutions } from '../../../adapters/aws/executions.ts';
import { TransientError } from '../../../core/errors.ts';

const client = new SFNClient({ region: 'eu-west-1' });
const sfn = mockClient(client);
const stateMachineArn = 'arn:aws:states:eu-west-1:123456789012:stateMachine:watchpost';
const executions = createExecutions({ client, stateMachineArn });
const input = { run_id: '0c4c1c5e-7a53-4f2c-9b3f-1f0a5ad1e001', generation: 2 };
const arn =
  'arn:aws:states:eu-west-1:123456789012:execution:watchpost:0c4c1c5e-7a53-4f2c-9b3f-1f0a5ad1e001-2';

beforeEach(() => void sfn.reset());

const fault = { message: '', $metadata: {} };

describe('executions on Step Functions', () => {
  test('an execution is named by job and generation and gets both as input', async () => {
    sfn.on(StartExecutionCommand).resolves({});

    expect(await executions.start(input)).toBe('started');

    const [call] = sfn.commandCalls(StartExecutionCommand);
    expect(call?.args[0].input).toEqual({
      stateMachineArn,
      name: '0c4c1c5e-7a53-4f2c-9b3f-1f0a5ad1e001-2',
      input: JSON.stringify(input),
    });
  });

  test('a name that is in use or was used is an execution that has started', async () => {
    sfn.on(StartExecutionCommand).rejects(new ExecutionAlreadyExists(fault));

    expect(await executions.start(input)).toBe('already');
  });

  test('stopping an execution that never started has no effect', async () => {
    sfn.on(StopExecutionCommand).rejects(new ExecutionDoesNotExist(fault));

    await executions.stop(input, 'cancelled');

    expect(sfn.commandCalls(StopExecutionCommand)[0]?.args[0].input).toEqual({
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
    sfn.on(DescribeExecutionCommand, { executionArn: arn }).resolves({ status });

    expect(await executions.status(input)).toBe(expected);
  });

  test('an execution that never started has no status', async () => {
    sfn.on(DescribeExecutionCommand).rejects(new ExecutionDoesNotExist(fault));

    expect(await executions.status(input)).toBeUndefined();
  });

  test('throttling is a TransientError, a missing permission is not', async () => {
    const refused = (name: string, httpStatusCode: number) =>
      new SFNServiceException({ name, $fault: 'client', $metadata: { httpStatusCode } });
    sfn
      .on(StartExecutionCommand)
      .rejectsOnce(refused('ThrottlingException', 400))
      .rejectsOnce(refused('AccessDeniedException', 400));

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
  const both = createExecutions({ client, stateMachineArn, otherStateMachineArn });
  const otherArn = arn.replace(':watchpost:', ':watchpost-jobs:');

  test('an execution that runs on the state machine of the other mode is not missing', async () => {
    sfn.on(DescribeExecutionCommand, { executionArn: arn }).rejects(new ExecutionDoesNotExist(fault));
    sfn.on(DescribeExecutionCommand, { executionArn: otherArn }).resolves({ status: 'RUNNING' });

    expect(await both.status(input)).toBe('running');
  });

  test('an execution is stopped on both state machines and started on the current one', async () => {
    sfn.on(StopExecutionCommand, { executionArn: arn }).rejects(new ExecutionDoesNotExist(fault));
    sfn.on(StopExecutionCommand, { executionArn: otherArn }).resolves({});
    sfn.on(StartExecutionCommand).resolves({});

    await both.stop(input, 'cancelled');
    await both.start(input);

    const stopped = sfn.commandCalls(StopExecutionCommand).map(({ args: [call] }) => call.input.executionArn);
    expect(stopped).toEqual([arn, otherArn]);
    expect(sfn.commandCalls(StartExecutionCommand)[0]?.args[0].input.stateMachineArn).toBe(stateMachineArn);
  });
});

describe('list of running executions', () => {
  const machines = { stateMachineArn, otherStateMachineArn: `${stateMachineArn}-jobs` };
  const both = createExecutions({ client, ...machines });
  const page = (names: string[], nextToken?: string) => ({
    executions: names.map((name) => ({
      name,
      executionArn: name,
      stateMachineArn,
      status: 'RUNNING' as const,
      startDate: new Date(),
    })),
    ...(nextToken !== undefined && { nextToken }),
  });

  test('running executions are listed from all pages of both state machines', async () => {
    const running = { statusFilter: 'RUNNING', maxResults: 1000 } as const;
    const other = { stateMachineArn: machines.otherStateMachineArn };
    sfn.on(ListExecutionsCommand, { ...running, stateMachineArn }).resolves(page(['a-0', 'b-1'], 'more'));
    sfn.on(ListExecutionsCommand, { ...running, stateMachineArn, nextToken: 'more' }).resolves(page(['c-0']));
    sfn.on(ListExecutionsCommand, { ...running, ...other }).resolves(page(['d-4']));

    expect(await both.listRunning(3)).toEqual(['a-0', 'b-1', 'c-0', 'd-4']);
  });

  test('more running executions than the pages hold are not listed', async () => {
    sfn.on(ListExecutionsCommand).resolves(page(['a-0'], 'more'));

    expect(await both.listRunning(3)).toBeUndefined();
    expect(sfn.commandCalls(ListExecutionsCommand)).toHaveLength(3);
  });

  test('a throttled list is a TransientError', async () => {
    const throttled = {
      name: 'ThrottlingException',
      $fault: 'client',
      $metadata: { httpStatusCode: 400 },
    } as const;
    sfn.on(ListExecutionsCommand).rejects(new SFNServiceException(throttled));

    await expect(both.listRunning(3)).rejects.toThrow(TransientError);
  });
});

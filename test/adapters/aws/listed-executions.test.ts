import { ListExecutionsCommand, SFNClient, SFNServiceException } from '@aws-sdk/client-sfn';
import { mockClient } from 'aws-sdk-client-mock';
import { beforeEach, expect, test } from 'vitest';
import { listRunning, useListedStatus } from '../../../adapters/aws/listed-executions.ts';
import { paceStarts } from '../../../adapters/aws/paced-executions.ts';
import { TransientError } from '../../../core/errors.ts';
import type { Executions } from '../../../core/ports/executions.ts';

const client = new SFNClient({ region: 'eu-west-1' });
const sfn = mockClient(client);
const arns = ['arn:jobs', 'arn:watch'];
const input = { job_id: '0c4c1c5e-7a53-4f2c-9b3f-1f0a5ad1e001', generation: 2 };
const executions: Executions = {
  start: async () => 'started',
  stop: async () => undefined,
  status: async () => 'aborted',
  runsHere: () => false,
};

beforeEach(() => void sfn.reset());

const page = (names: string[], nextToken?: string) => ({
  executions: names.map((name) => ({
    name,
    executionArn: name,
    stateMachineArn: 'arn',
    status: 'RUNNING' as const,
    startDate: new Date(0),
  })),
  nextToken,
});

test('running executions are listed from all pages of both state machines', async () => {
  sfn
    .on(ListExecutionsCommand, { stateMachineArn: 'arn:jobs' })
    .resolvesOnce(page(['a-0', 'b-1'], 'more'))
    .resolvesOnce(page(['c-0']))
    .on(ListExecutionsCommand, { stateMachineArn: 'arn:watch' })
    .resolves(page(['d-4']));

  expect(await listRunning({ client, stateMachineArns: arns, maxPages: 3 })).toEqual([
    'a-0',
    'b-1',
    'c-0',
    'd-4',
  ]);
  expect(sfn.commandCalls(ListExecutionsCommand)[1]?.args[0].input).toEqual({
    stateMachineArn: 'arn:jobs',
    statusFilter: 'RUNNING',
    maxResults: 1000,
    nextToken: 'more',
  });
});

test('more running executions than the pages hold are not listed', async () => {
  sfn.on(ListExecutionsCommand).resolves(page(['a-0'], 'more'));

  expect(await listRunning({ client, stateMachineArns: arns, maxPages: 3 })).toBeUndefined();
  expect(sfn.commandCalls(ListExecutionsCommand)).toHaveLength(3);
});

test('a throttled list is a TransientError', async () => {
  const fault = {
    name: 'ThrottlingException',
    $fault: 'client' as const,
    $metadata: { httpStatusCode: 400 },
  };
  sfn.on(ListExecutionsCommand).rejects(new SFNServiceException(fault));

  await expect(listRunning({ client, stateMachineArns: arns, maxPages: 3 })).rejects.toThrow(TransientError);
});

test('an execution is running if the list has its name and generation', async () => {
  const name = `${input.job_id}-${input.generation}`;

  expect(await useListedStatus(executions, new Set([name])).status(input)).toBe('running');
  expect(await useListedStatus(executions, new Set([`${input.job_id}-1`])).status(input)).toBe('not_running');
});

test('executions beyond a burst start at the rate of the pace', async () => {
  let elapsed = 0;
  const startedAt: number[] = [];
  const paced = paceStarts(
    { ...executions, start: async () => (startedAt.push(elapsed), 'started' as const) },
    {
      burst: 3,
      startsPerSecond: 4,
      elapsedMs: () => elapsed,
      sleep: async (milliseconds) => void (elapsed += milliseconds),
    },
  );
  for (let count = 0; count < 6; count += 1) await paced.start(input);
  elapsed = 10_000;
  for (let count = 0; count < 4; count += 1) await paced.start(input);

  expect(startedAt).toEqual([0, 0, 0, 250, 500, 750, 10_000, 10_000, 10_000, 10_250]);
});

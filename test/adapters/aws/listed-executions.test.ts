import { beforeEach, expect, test, vi } from 'vitest';
import { listRunning, useListedStatus } from '../../../adapters/aws/listed-executions.ts';
import { paceStarts } from '../../../adapters/aws/paced-executions.ts';
import type { JsonCall } from '../../../adapters/aws/requests/json-calls.ts';
import { TransientError } from '../../../core/errors.ts';
import type { Executions } from '../../../core/ports/executions.ts';
import { serviceError } from './requests/local-requests.ts';

const states = vi.fn<JsonCall>();
const arns = ['arn:jobs', 'arn:watch'];
const input = { job_id: '0c4c1c5e-7a53-4f2c-9b3f-1f0a5ad1e001', generation: 2 };
const executions: Executions = {
  start: async () => 'started',
  stop: async () => undefined,
  status: async () => 'aborted',
  runsHere: () => false,
};

beforeEach(() => void states.mockReset());

const page = (names: string[], nextToken?: string) => ({
  executions: names.map((name) => ({ name, executionArn: name, status: 'RUNNING', startDate: 0 })),
  nextToken,
});

test('running executions are listed from all pages of both state machines', async () => {
  states
    .mockResolvedValueOnce(page(['a-0', 'b-1'], 'more'))
    .mockResolvedValueOnce(page(['c-0']))
    .mockResolvedValueOnce(page(['d-4']));

  expect(await listRunning({ states, stateMachineArns: arns, maxPages: 3 })).toEqual([
    'a-0',
    'b-1',
    'c-0',
    'd-4',
  ]);
  const input = { stateMachineArn: 'arn:jobs', statusFilter: 'RUNNING', maxResults: 1000 };
  expect(states.mock.calls).toEqual([
    ['ListExecutions', input],
    ['ListExecutions', { ...input, nextToken: 'more' }],
    ['ListExecutions', { ...input, stateMachineArn: 'arn:watch' }],
  ]);
});

test('more running executions than the pages hold are not listed', async () => {
  states.mockResolvedValue(page(['a-0'], 'more'));

  expect(await listRunning({ states, stateMachineArns: arns, maxPages: 3 })).toBeUndefined();
  expect(states).toHaveBeenCalledTimes(3);
});

test('a throttled list is a TransientError', async () => {
  states.mockRejectedValue(serviceError('ThrottlingException'));

  await expect(listRunning({ states, stateMachineArns: arns, maxPages: 3 })).rejects.toThrow(TransientError);
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

import { expect, test } from 'vitest';
import { paceStarts, useListedStatus } from '../../../adapters/aws/sweep-executions.ts';
import type { Executions } from '../../../core/ports/executions.ts';

const input = { run_id: '0c4c1c5e-7a53-4f2c-9b3f-1f0a5ad1e001', generation: 2 };
const executions: Executions = {
  start: async () => 'started',
  stop: async () => undefined,
  status: async () => 'aborted',
  runsHere: () => false,
};

test('an execution is running if the list has its name and generation', async () => {
  const name = `${input.run_id}-${input.generation}`;

  expect(await useListedStatus(executions, new Set([name])).status(input)).toBe('running');
  expect(await useListedStatus(executions, new Set([`${input.run_id}-1`])).status(input)).toBe('not_running');
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

import { paginateGetExecutionHistory, paginateListExecutions, SFNClient } from '@aws-sdk/client-sfn';
import { findForeignValues } from '../support/execution-values.ts';
import type { Emulator } from './emulator.ts';

/**
 * Returns what is more than ids, times and numbers in the histories of all executions, and the number of executions.
 */
export async function readHistories({ endpoint }: Emulator, machines: readonly string[]) {
  const client = new SFNClient({
    endpoint,
    region: 'us-east-1',
    credentials: { accessKeyId: 'test', secretAccessKey: 'test' },
  });
  const foreign = new Set<string>();
  let executions = 0;
  for (const stateMachineArn of machines)
    for await (const page of paginateListExecutions({ client }, { stateMachineArn }))
      for (const { executionArn } of page.executions ?? []) {
        executions += 1;
        for await (const { events = [] } of paginateGetExecutionHistory({ client }, { executionArn }))
          for (const found of findForeignValues(events.map(readKept))) foreign.add(found);
      }
  return { executions, foreign: [...foreign] };
}

/** Returns the data of an event: what a state or a task received or returned. */
function readKept(event: object): unknown[] {
  return Object.values(event)
    .filter((details) => typeof details === 'object' && details !== null)
    .flatMap(({ input, output, parameters }) => [input, output, parameters])
    .filter((text) => text !== undefined);
}

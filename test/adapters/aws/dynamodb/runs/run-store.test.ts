import { expect, test } from 'vitest';
import { activePartition, shardFor } from '../../../../../adapters/aws/dynamodb/table/keys.ts';
import { itemTtls } from '../../../../../adapters/aws/dynamodb/table/item-ttls.ts';
import { toItems } from '../../../../../adapters/aws/dynamodb/runs/run-item.ts';
import { createRunStore } from '../../../../../adapters/aws/dynamodb/runs/run-store.ts';
import type { Table } from '../../../../../adapters/aws/dynamodb/table/table.ts';
import { end, newJob } from '../../../../contract/records.ts';
import { newCreation, toStored } from '../../../../contract/watch-records.ts';

const rules = { ttls: itemTtls(), hasBus: false };

test('a read between whose items a change by a caller fell is repeated', async () => {
  const watch = toStored(newCreation());
  const after = { ...watch, version: 1, config: { ...watch.config, name: 'North gate' } };
  const [before, changed] = [toItems(watch, [], rules), toItems(after, [], rules)];
  const reads = [
    [before.meta, changed.run],
    [changed.meta, changed.run],
  ];
  const table = { query: async () => reads.shift() } as unknown as Table;
  const store = createRunStore({ table, ...rules }, { sleep: async () => undefined, random: () => 0 });

  expect(await store.getIncludingEnded(watch.run_id)).toEqual(after);
  expect(reads).toEqual([]);
});

test('the end of a job whose configuration is gone still removes it from the active jobs', async () => {
  const job = newJob();
  const { run } = toItems(job, [], rules);
  const written: unknown[] = [];
  const table = {
    get: async ({ sk }: { sk: string }) => (sk === 'RUN' ? run : undefined),
    transact: async (writes: unknown[]) => (written.push(...writes), { kind: 'written' }),
  } as unknown as Table;
  const store = createRunStore({ table, ...rules }, { sleep: async () => undefined, random: () => 0 });

  expect(await store.commit(end(job))).toBe('committed');
  const key = { pk: activePartition(shardFor(job.run_id)), sk: job.run_id };
  expect(written).toContainEqual({ kind: 'delete', key });
});

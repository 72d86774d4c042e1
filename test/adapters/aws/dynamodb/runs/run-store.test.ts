import { expect, test } from 'vitest';
import { itemTtls } from '../../../../../adapters/aws/dynamodb/table/item-ttls.ts';
import { toItems } from '../../../../../adapters/aws/dynamodb/runs/run-item.ts';
import { createRunStore } from '../../../../../adapters/aws/dynamodb/runs/run-store.ts';
import type { Table } from '../../../../../adapters/aws/dynamodb/table/table.ts';
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

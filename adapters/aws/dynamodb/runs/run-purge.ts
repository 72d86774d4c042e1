import { isPurgeable } from '../../../../core/event/stored-run.ts';
import { itemKeys, runPartition } from '../table/keys.ts';
import { readKey } from '../table/record.ts';
import type { Table } from '../table/table.ts';
import type { ItemKey } from '../table/write.ts';
import { alertQuery } from './alert-item.ts';
import { readRunItems } from './run-item.ts';

/** Maximum writes of a transaction. */
const maxWrites = 100;

/** Removes a deleted watch with all its items, its configuration last: a purge that was interrupted finds it again. */
export async function purgeRun(table: Table, runId: string): Promise<void> {
  const items = await table.query({ where: '#pk = :run', values: { ':run': runPartition(runId) } });
  const [metaKey, runKey] = [itemKeys.meta(runId), itemKeys.run(runId)];
  const find = ({ sk }: ItemKey) => items.find((item) => item['sk'] === sk);
  const run = readRunItems(find(metaKey), find(runKey));
  if (run === undefined || !isPurgeable(run)) return;
  const alerts = await table.query(alertQuery({ caller: run.caller, watchId: runId }, new Date(0)));
  const first = [...items.filter(({ sk }) => sk !== metaKey.sk && sk !== runKey.sk), ...alerts];
  await removeItems(table, [...first.map(readKey), itemKeys.watchSecrets(runId)]);
  await removeItems(table, [runKey, metaKey]);
}

async function removeItems(table: Table, keys: ItemKey[]): Promise<void> {
  for (let from = 0; from < keys.length; from += maxWrites) {
    await table.transact(keys.slice(from, from + maxWrites).map((key) => ({ kind: 'delete', key })));
  }
}

import type { Run } from '../../../../core/records/run.ts';
import { itemKeys, readRunId } from '../table/keys.ts';
import { readRunItems } from './run-item.ts';
import type { ReadOptions, Table } from '../table/table.ts';
import type { ItemKey } from '../table/write.ts';

/** Returns the runs of these partitions that exist, in this order. */
export async function readRuns(
  table: Table,
  keys: readonly Pick<ItemKey, 'pk'>[],
  options?: ReadOptions,
): Promise<Run[]> {
  const ids = keys.map(readRunId);
  const items = await table.getMany(
    ids.flatMap((id) => [itemKeys.meta(id), itemKeys.run(id)]),
    options,
  );
  const byKey = new Map(items.map((item) => [`${String(item['pk'])} ${String(item['sk'])}`, item]));
  const read = ({ pk, sk }: ItemKey) => byKey.get(`${pk} ${sk}`);
  return ids.flatMap((id) => readRunItems(read(itemKeys.meta(id)), read(itemKeys.run(id))) ?? []);
}

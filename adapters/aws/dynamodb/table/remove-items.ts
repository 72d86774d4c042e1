import { readKey } from './record.ts';
import type { Table, ItemKey } from './table.ts';

const writesAtOnce = 25;

/** Removes items without a transaction: a removal that was interrupted is repeated. */
export async function removeItems(table: Table, keys: readonly ItemKey[]): Promise<void> {
  for (let from = 0; from < keys.length; from += writesAtOnce)
    await Promise.all(
      keys.slice(from, from + writesAtOnce).map((key) => table.write({ kind: 'delete', key })),
    );
}

/** Removes the items of a partition, except those with these sort keys. */
export async function removePartition(
  table: Table,
  pk: string,
  except: readonly string[] = [],
): Promise<void> {
  const keys = (await table.query({ where: '#pk = :pk', values: { ':pk': pk } })).map(readKey);
  await removeItems(
    table,
    keys.filter(({ sk }) => !except.includes(sk)),
  );
}

import { sourceSchema, type Source } from '../../../../core/records/job.ts';
import { itemKeys } from '../table/keys.ts';
import { readRecord } from '../table/record.ts';
import { ttlAttribute } from '../table/table-layout.ts';
import type { Table } from '../table/table.ts';
import type { Write } from '../table/write.ts';

export function putSource(source: Source): Write & { kind: 'put' } {
  return { kind: 'put', item: { ...itemKeys.source(source.source_id), record: JSON.stringify(source) } };
}

/** Returns undefined if the source is removed. */
export async function readSource(table: Table, sourceId: string): Promise<Source | undefined> {
  const item = await table.get(itemKeys.source(sourceId));
  // Only the commit that ends the job sets a TTL.
  return item && { ...readRecord(sourceSchema, item), ...(ttlAttribute in item && { ended: true }) };
}

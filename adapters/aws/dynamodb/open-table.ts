import { tableReads } from './table-reads.ts';
import { tableWrites } from './table-writes.ts';
import type { Table, TableDeps } from './table.ts';

/** Creates the operations on a table. Sends no request. */
export function openTable(deps: TableDeps): Table {
  return { ...tableReads(deps), ...tableWrites(deps) };
}

import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import type { BackoffDeps } from '../../../retry-with-backoff.ts';
import { tableReads } from './table-reads.ts';
import { tableWrites } from './table-writes.ts';
import type { Table } from './table.ts';

export type TableDeps = { client: DynamoDBClient; tableName: string; newId: () => string } & BackoffDeps;

/** Creates the operations on a table. Sends no request. */
export function openTable({ client, tableName, newId, sleep, random }: TableDeps): Table {
  const documents = DynamoDBDocumentClient.from(client, { marshallOptions: { removeUndefinedValues: true } });
  const deps = { documents, tableName, newId, sleep, random };
  return { ...tableReads(deps), ...tableWrites(deps) };
}

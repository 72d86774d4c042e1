import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import type { Patience } from './jitter.ts';
import { tableReads } from './table-reads.ts';
import { tableWrites } from './table-writes.ts';
import type { Item, Key, Write } from './write.ts';

export type Query = {
  /** Left out: the table itself, read consistently. Indexes lag behind it. */
  index?: string;
  /** Of keys, with every attribute as `#name`. */
  where: string;
  values: Item;
  /** Drops items after they were read and paid for. */
  filter?: string;
  newestFirst?: boolean;
  /** How many are wanted; left out: all. */
  limit?: number;
};

export type Written = { kind: 'written'; item: Item | undefined } | { kind: 'refused' };
/** `refused`: whose condition was not met, in the order of the writes. */
export type Transacted = { kind: 'written' } | { kind: 'refused'; refused: boolean[] };

/**
 * The table in the few ways in which the stores use it. Every method throws `TransientError` for what passes by itself.
 * Collisions with transactions are no answer to anybody: they are repeated here, with jitter.
 */
export type Table = {
  get(key: Key): Promise<Item | undefined>;
  /** Those that are there, in any order. */
  getMany(keys: Key[]): Promise<Item[]>;
  /** At most 100 items as they stood at one moment, in the order of the keys. */
  snapshot(keys: Key[]): Promise<(Item | undefined)[]>;
  query(query: Query): Promise<Item[]>;
  /** `item`: as it stands after an update. 'refused': the condition was not met. */
  write(write: Write): Promise<Written>;
  /** At most 100 writes, all or none. A reply that was lost on the line is asked for again without a second effect. */
  transact(writes: Write[]): Promise<Transacted>;
};

export type TableNeeds = { client: DynamoDBClient; tableName: string; newId: () => string } & Patience;

export function openTable({ client, tableName, newId, sleep, random }: TableNeeds): Table {
  const documents = DynamoDBDocumentClient.from(client, { marshallOptions: { removeUndefinedValues: true } });
  const needs = { documents, tableName, newId, sleep, random };
  return { ...tableReads(needs), ...tableWrites(needs) };
}

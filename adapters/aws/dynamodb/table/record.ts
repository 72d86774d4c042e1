import { createHash } from 'node:crypto';
import { recordVersion } from '../../../../core/records/record-version.ts';
import { indexes, partitionKey, sortKey, ttlAttribute } from './table-layout.ts';
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { z } from 'zod';
import { StorageError } from '../../../../core/errors.ts';
import type { Item, ItemKey } from './table.ts';

/**
 * Identity of the stored data: layout of the table, and version of its records. A table with another one is refused.
 */
export const storageVersion = createHash('sha256')
  .update(JSON.stringify([partitionKey, sortKey, ttlAttribute, indexes, recordVersion]))
  .digest('hex')
  .slice(0, 10);

/**
 * Reads a record, which is stored as JSON in one attribute, perhaps compressed: DynamoDB numbers are limited to 38
 * digits and 1e126. Throws `StorageError` if it does not match its schema.
 */
export function readRecord<T>(schema: z.ZodType<T>, item: Item): T {
  return readItem(schema, parseRecord(item));
}

/** Reads the records of several items. Throws `StorageError` like `readRecord`. */
export function readRecords<T>(schema: z.ZodType<T>, items: Item[]): T[] {
  return items.map((item) => readRecord(schema, item));
}

/** Reads the columns of an item. Throws `StorageError` if they do not match the schema. */
export function readItem<T>(schema: z.ZodType<T>, item: unknown): T {
  const read = schema.safeParse(item);
  if (!read.success)
    throw new StorageError(
      'A stored record does not match its schema: it is of another version of Watchpost, or damaged',
      { cause: read.error },
    );
  return read.data;
}

export function readKey(item: Item): ItemKey {
  return readItem(keySchema, item);
}

const keySchema = z.object({ pk: z.string(), sk: z.string() });

/** Size from which a record is worth compressing, in bytes. DynamoDB bills writes by the started kilobyte. */
const minPackedBytes = 1024;

/**
 * Returns a record that each tick writes as JSON, compressed if it is long: six kilobytes of eight open conditions are
 * then one to two.
 */
export function packRecord(record: object): string | Uint8Array {
  const text = JSON.stringify(record);
  return Buffer.byteLength(text) < minPackedBytes ? text : deflateRawSync(text);
}

/** Bound of an uncompressed record: an item of DynamoDB has at most 400 kB. */
const maxRecordBytes = 4_000_000;

function unpack(record: unknown): string {
  if (record instanceof Uint8Array)
    return inflateRawSync(record, { maxOutputLength: maxRecordBytes }).toString();
  return z.string().parse(record);
}

/** Parses the record of an item, which is part of a value. Throws `StorageError` if it is not JSON. */
export function parseRecord(item: Item): unknown {
  try {
    return JSON.parse(unpack(item['record']));
  } catch (error) {
    throw new StorageError('A stored record is not JSON', { cause: error });
  }
}

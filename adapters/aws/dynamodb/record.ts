import { z } from 'zod';
import { StorageError } from '../../../core/errors.ts';
import type { Item } from './write.ts';

/**
 * Reads a record, which is stored as JSON in one attribute: DynamoDB numbers are limited to 38 digits and 1e126.
 * Throws `StorageError` if it does not match its schema.
 */
export function readRecord<T>(schema: z.ZodType<T>, item: Item): T {
  return readItem(schema, parseJson(item['record']));
}

/** Reads the records of several items. Throws `StorageError` like `readRecord`. */
export function readRecords<T>(schema: z.ZodType<T>, items: Item[]): T[] {
  return items.map((item) => readRecord(schema, item));
}

/** Reads the columns of an item. Throws `StorageError` if they do not match the schema. */
export function readItem<T>(schema: z.ZodType<T>, item: unknown): T {
  const read = schema.safeParse(item);
  if (!read.success)
    throw new StorageError('A stored record does not match its schema', { cause: read.error });
  return read.data;
}

function parseJson(text: unknown): unknown {
  try {
    return JSON.parse(z.string().parse(text));
  } catch (error) {
    throw new StorageError('A stored record is not JSON', { cause: error });
  }
}

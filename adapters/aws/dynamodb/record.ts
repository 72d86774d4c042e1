import { z } from 'zod';
import { StorageError } from './storage-error.ts';
import type { Item } from './write.ts';

/**
 * A record is stored as JSON in one attribute, beside those that are conditions or indexes: DynamoDB's numbers end at 1e126 and at
 * 38 digits, and ours come back as they were. Throws `StorageError` when it does not fit its schema.
 */
export function readRecord<T>(schema: z.ZodType<T>, item: Item): T {
  return readItem(schema, parseJson(item['record']));
}

export function readRecords<T>(schema: z.ZodType<T>, items: Item[]): T[] {
  return items.map((item) => readRecord(schema, item));
}

export function readItem<T>(schema: z.ZodType<T>, item: unknown): T {
  const read = schema.safeParse(item);
  if (!read.success) throw new StorageError('A stored record does not fit its schema', { cause: read.error });
  return read.data;
}

function parseJson(text: unknown): unknown {
  try {
    return JSON.parse(z.string().parse(text));
  } catch (error) {
    throw new StorageError('A stored record is no JSON', { cause: error });
  }
}

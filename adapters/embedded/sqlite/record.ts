import type { SQLOutputValue } from 'node:sqlite';
import { z } from 'zod';
import { StorageError } from '../../../core/errors.ts';
import { createByteCache } from '../../byte-cache.ts';

export type Row = Record<string, SQLOutputValue>;

/** Parses the JSON record of a row. Throws `StorageError` if it does not fit the schema. */
function readRecord<T>(schema: z.ZodType<T>, row: Row): T {
  return readValue(schema, parseJson(row['record']));
}

/** Checks a stored value. Throws `StorageError` if it does not fit the schema. */
export function readValue<T>(schema: z.ZodType<T>, value: unknown): T {
  const read = schema.safeParse(value);
  if (!read.success) throw new StorageError('A stored record does not fit its schema', { cause: read.error });
  return read.data;
}

/** Reader of records by id that parses the same text once. The records are frozen. */
export type RecordReader<T> = (id: string, row: Row | undefined) => T | undefined;

/** Memory of a text and of the values in it, by its length. */
export const parsedFactor = 8;
export const maxParsedBytes = 64 * 1024 * 1024;

/** Creates a reader, which keeps the newest record of `max` ids. */
export function createRecordReader<T extends object>(schema: z.ZodType<T>, max: number): RecordReader<T> {
  const kept = createByteCache<{ text: string; record: T }>({
    name: 'parsed records',
    max,
    maxBytes: maxParsedBytes,
    bytesOf: ({ text }) => parsedFactor * text.length,
  });
  return (id, row) => {
    if (row === undefined) return undefined;
    const text = row['record'];
    const cached = kept.get(id);
    if (cached !== undefined && cached.text === text) return cached.record;
    const record = readRecord(schema, row);
    freeze(record);
    if (typeof text === 'string') kept.set(id, { text, record });
    return record;
  };
}

export function readOptionalRecord<T>(schema: z.ZodType<T>, row: Row | undefined): T | undefined {
  return row === undefined ? undefined : readRecord(schema, row);
}

export function readRecords<T>(schema: z.ZodType<T>, rows: Row[]): T[] {
  return rows.map((row) => readRecord(schema, row));
}

/** Reads the result of a statement that selects one integer `AS count`. */
export function readCount(row: Row | undefined): number {
  return countSchema.parse(row).count;
}

const countSchema = z.object({ count: z.int().nonnegative() });

/** Parses a record that is one of several with the fields of one value. */
export function parseFields(text: string): Record<string, unknown> {
  return readValue(z.record(z.string(), z.unknown()), parseJson(text));
}

const textSchema = z.string();

function parseJson(text: SQLOutputValue | undefined): unknown {
  try {
    return JSON.parse(textSchema.parse(text));
  } catch (error) {
    throw new StorageError('A stored record is not JSON', { cause: error });
  }
}

/** Converts a timestamp of a record to its column value, in epoch milliseconds. */
export function toMilliseconds(timestamp: string): number {
  return Date.parse(timestamp);
}

/** Freezes a value with all that it holds, so that those who share it cannot change it. */
export function freeze(value: unknown): void {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return;
  Object.freeze(value);
  for (const inner of Object.values(value)) freeze(inner);
}

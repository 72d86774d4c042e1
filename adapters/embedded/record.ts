import type { SQLOutputValue } from 'node:sqlite';
import { z } from 'zod';
import { StorageError } from '../../core/errors.ts';

export type Row = Record<string, SQLOutputValue>;

/** The record in a row's JSON. Throws `StorageError` when it does not fit its schema. */
function readRecord<T>(schema: z.ZodType<T>, row: Row): T {
  const read = schema.safeParse(parseJson(row['record']));
  if (!read.success) throw new StorageError('A stored record does not fit its schema', { cause: read.error });
  return read.data;
}

export function readOptionalRecord<T>(schema: z.ZodType<T>, row: Row | undefined): T | undefined {
  return row === undefined ? undefined : readRecord(schema, row);
}

export function readRecords<T>(schema: z.ZodType<T>, rows: Row[]): T[] {
  return rows.map((row) => readRecord(schema, row));
}

/** Of a statement that selects one whole number `AS count`. */
export function readCount(row: Row | undefined): number {
  return countSchema.parse(row).count;
}

const countSchema = z.object({ count: z.int().nonnegative() });

function parseJson(text: SQLOutputValue | undefined): unknown {
  try {
    return JSON.parse(z.string().parse(text));
  } catch (error) {
    throw new StorageError('A stored record is no JSON', { cause: error });
  }
}

/** A timestamp of a record as its column. */
export function toMilliseconds(timestamp: string): number {
  return Date.parse(timestamp);
}

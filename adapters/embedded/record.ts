import type { SQLOutputValue } from 'node:sqlite';
import { LRUCache } from 'lru-cache';
import { z } from 'zod';
import { StorageError } from '../../core/errors.ts';
import { freeze } from './freeze.ts';

export type Row = Record<string, SQLOutputValue>;

/** Parses the JSON record of a row. Throws `StorageError` if it does not fit the schema. */
function readRecord<T>(schema: z.ZodType<T>, row: Row): T {
  const read = schema.safeParse(parseJson(row['record']));
  if (!read.success) throw new StorageError('A stored record does not fit its schema', { cause: read.error });
  return read.data;
}

/** Reader of records by id that parses the same text once. The records are frozen. */
export type RecordReader<T> = {
  read(id: string, row: Row | undefined): T | undefined;
  /** Keeps a record that was written as `text`, which is not parsed then. Freezes it. */
  remember(id: string, text: string, record: T): void;
};

/** Creates a reader: a tick reads its job several times, and the next one what it has written. Keeps the newest record of `max` ids. */
export function createRecordReader<T extends object>(schema: z.ZodType<T>, max: number): RecordReader<T> {
  const kept = new LRUCache<string, { text: string; record: T }>({ max });
  return {
    read: (id, row) => {
      if (row === undefined) return undefined;
      const text = row['record'];
      const known = kept.get(id);
      if (known !== undefined && known.text === text) return known.record;
      const record = readRecord(schema, row);
      if (typeof text === 'string') remember(id, text, record);
      return record;
    },
    remember,
  };

  function remember(id: string, text: string, record: T): void {
    freeze(record);
    kept.set(id, { text, record });
  }
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

function parseJson(text: SQLOutputValue | undefined): unknown {
  try {
    return JSON.parse(z.string().parse(text));
  } catch (error) {
    throw new StorageError('A stored record is not JSON', { cause: error });
  }
}

/** Converts a timestamp of a record to its column value, in epoch milliseconds. */
export function toMilliseconds(timestamp: string): number {
  return Date.parse(timestamp);
}

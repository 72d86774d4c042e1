import type { DatabaseSync } from 'node:sqlite';
import { z } from 'zod';
import { withStorageErrors } from './transaction.ts';

const rowSchema = z.object({ newest: z.int().nullable() });

/** Returns a function that reads the newest creation time of a run or key; undefined in an empty database. */
export function createNewestEntry(database: DatabaseSync): () => Date | undefined {
  const read = database.prepare(
    'SELECT max(created_at) AS newest FROM (SELECT max(created_at) AS created_at FROM runs UNION ALL SELECT max(created_at) FROM api_keys)',
  );
  return () => {
    const { newest } = rowSchema.parse(withStorageErrors(() => read.get()));
    return newest === null ? undefined : new Date(newest);
  };
}

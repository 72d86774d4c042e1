import type { DatabaseSync } from 'node:sqlite';
import { z } from 'zod';
import { withStorageErrors } from './transaction.ts';

const rowSchema = z.object({ file: z.string() });

/**
 * Returns the path of the file of a database; null for one in memory. `location()` is younger than the oldest Node that
 * the package runs on.
 */
export function databaseFile(database: DatabaseSync): string | null {
  const { file } = rowSchema.parse(withStorageErrors(() => database.prepare('PRAGMA database_list').get()));
  return file === '' ? null : file;
}

import type { DatabaseSync } from 'node:sqlite';
import { storageError } from './storage-error.ts';

/**
 * Runs `work` in a transaction. Takes the write lock first, so that rows read by `work` are still current when it writes. Throws
 * errors of `work`, and SQLite's errors mapped by `storageError`.
 */
export function transaction<T>(database: DatabaseSync, work: () => T): T {
  return withStorageErrors(() => {
    database.exec('BEGIN IMMEDIATE');
    try {
      const result = work();
      database.exec('COMMIT');
      return result;
    } catch (error) {
      rollBack(database);
      throw error;
    }
  });
}

/** Runs statements that need no transaction. Throws SQLite's errors mapped by `storageError`. */
export function withStorageErrors<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw storageError(error);
  }
}

/** Rolls back, unless SQLite did so when the disk was full. */
function rollBack(database: DatabaseSync): void {
  if (database.isTransaction) database.exec('ROLLBACK');
}

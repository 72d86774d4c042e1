import type { DatabaseSync } from 'node:sqlite';
import { storageError } from './storage-error.ts';

/**
 * Runs `work` whole or not at all. The write lock is taken first: what `work` reads is still so when it writes, whatever other
 * processes do. Throws what `work` throws, and SQLite's errors as `storageError` names them.
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

/** Runs statements that need no transaction. Throws SQLite's errors as `storageError` names them. */
export function withStorageErrors<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw storageError(error);
  }
}

/** A full disk may have rolled the transaction back already. */
function rollBack(database: DatabaseSync): void {
  if (database.isTransaction) database.exec('ROLLBACK');
}

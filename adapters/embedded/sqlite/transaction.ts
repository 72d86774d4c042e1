import type { DatabaseSync } from 'node:sqlite';
import { storageError } from './storage-error.ts';

/** The CLI can open the database beside the service, and writes for milliseconds. */
export const busyTimeoutMs = 5_000;

/**
 * Runs `work` in a transaction. Takes the write lock first, so that rows read by `work` are still current when it
 * writes. Throws errors of `work`, and SQLite's errors mapped by `storageError`.
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

/**
 * Commits without waiting for the disk; the next other commit flushes this one too. A power loss can take back the
 * newest of these commits, with nothing that follows them. A kill of the process takes back none. Throws as
 * `transaction` does.
 */
export function withoutFlush<T>(database: DatabaseSync, work: () => T): T {
  return withStorageErrors(() => {
    database.exec('PRAGMA synchronous = NORMAL');
    try {
      return work();
    } finally {
      database.exec('PRAGMA synchronous = FULL');
    }
  });
}

/** Runs statements that throw `TransientError`, without a wait, if another process locks the database. */
export function withoutWaiting<T>(database: DatabaseSync, work: () => T): T {
  database.exec('PRAGMA busy_timeout = 0');
  try {
    return withStorageErrors(work);
  } finally {
    database.exec(`PRAGMA busy_timeout = ${busyTimeoutMs}`);
  }
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

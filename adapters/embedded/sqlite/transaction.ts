import type { DatabaseSync } from 'node:sqlite';
import { z } from 'zod';
import { DiskFullError, StorageError, TransientError } from '../../../core/errors.ts';

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

/**
 * Maps errors of SQLite and of the file system: `TransientError` for faults that pass or that an operator can fix (a
 * full disk, a lock, an unmounted volume), `StorageError` for other SQLite errors. Returns any other error unchanged.
 */
export function storageError(error: unknown): unknown {
  const read = systemErrorSchema.safeParse(error);
  if (!read.success) return error;
  const { code, errcode } = read.data;
  // The low byte of an extended result code is its primary code (sqlite.org/rescode.html).
  const help = helpByCode.get(errcode === undefined ? code : errcode & 0xff);
  if (help === full) return new DiskFullError(help, { cause: error });
  if (help !== undefined) return new TransientError(help, { cause: error });
  return errcode === undefined ? error : new StorageError('SQLite rejected a statement', { cause: error });
}

const systemErrorSchema = z.object({ code: z.string(), errcode: z.int().optional() });

const full = 'The disk of the data directory is full. Free some space; the service then continues.';
const failing = 'The data directory could not be read or written. Check its disk.';
const forbidden = 'The data directory cannot be written. Check its owner, mode and mount options.';
const busy = 'Another process locks the database of the data directory. End that process, or wait for it.';
const exhausted = 'The machine is out of memory or file handles.';

/** Remediation by SQLite's primary result code or Node's error code. */
const helpByCode = new Map<number | string, string>([
  [5, busy], // SQLITE_BUSY
  [6, busy], // SQLITE_LOCKED
  [7, exhausted], // SQLITE_NOMEM
  [8, forbidden], // SQLITE_READONLY
  [10, failing], // SQLITE_IOERR
  [13, full], // SQLITE_FULL
  [14, forbidden], // SQLITE_CANTOPEN
  ['ERR_INVALID_STATE', 'The store is closed: the service is stopping.'],
  ['ENOSPC', full],
  ['EDQUOT', full],
  ['EACCES', forbidden],
  ['EPERM', forbidden],
  ['EROFS', forbidden],
  ['ENOENT', failing], // A folder was removed while the service was running.
  ['EIO', failing],
  ['EMFILE', exhausted],
  ['ENFILE', exhausted],
  ['ENOMEM', exhausted],
]);

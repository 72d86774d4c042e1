import { closeSync, openSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { z } from 'zod';
import { DataDirectoryError } from './data-directory-error.ts';
import { migrations } from './schema.ts';
import { storageError } from './storage-error.ts';
import { transaction } from './transaction.ts';

/**
 * Opens the one database of the data directory, or a database in memory, and brings its schema up to date.
 * Throws `DataDirectoryError` for a file that is no database or is of a newer schema, `TransientError` for the disk's faults.
 */
export function openDatabase(path: string): DatabaseSync {
  if (path !== ':memory:') createPrivately(path);
  const database = open(path);
  try {
    configure(database);
    migrate(database);
    return database;
  } catch (error) {
    database.close();
    throw explain(error);
  }
}

/** SQLite gives its write-ahead log the mode of the database: stream and webhook URLs in it may hold passwords. */
function createPrivately(path: string): void {
  try {
    closeSync(openSync(path, 'a', 0o600));
  } catch (error) {
    throw isMissing(error) ? missingDirectory(error) : storageError(error);
  }
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT';
}

function missingDirectory(cause: unknown): DataDirectoryError {
  return new DataDirectoryError(
    'There is no such data directory',
    'Start the service once, which makes it, or name the one that it uses: --data-dir or WATCHPOST_DATA_DIR.',
    { cause },
  );
}

function open(path: string): DatabaseSync {
  try {
    return new DatabaseSync(path, { timeout: busyTimeoutMs, enableForeignKeyConstraints: false });
  } catch (error) {
    throw storageError(error);
  }
}

/** The command line may open the database beside the service, and writes for milliseconds. */
const busyTimeoutMs = 5_000;

/**
 * FULL makes every commit wait for the disk, so that power loss takes nothing that was answered. On a cloud volume that
 * made a commit of 0.03 ms one of 0.4 ms; 80 jobs at 10 s commit 8 times a second.
 */
function configure(database: DatabaseSync): void {
  database.exec(`
    PRAGMA journal_mode = WAL;
    PRAGMA synchronous = FULL;
    PRAGMA journal_size_limit = 67108864;
  `);
}

function migrate(database: DatabaseSync): void {
  const version = readVersion(database);
  if (version > migrations.length) throw newerSchema(version);
  for (const [index, migration] of migrations.entries()) {
    if (index >= version) upgrade(database, index + 1, migration);
  }
}

/** The version is read again under the write lock: another process may have been quicker. */
function upgrade(database: DatabaseSync, version: number, migration: string): void {
  transaction(database, () => {
    if (readVersion(database) >= version) return;
    database.exec(migration);
    database.exec(`PRAGMA user_version = ${version}`);
  });
}

function readVersion(database: DatabaseSync): number {
  return versionSchema.parse(database.prepare('PRAGMA user_version').get()).user_version;
}

const versionSchema = z.object({ user_version: z.int().nonnegative() });

function newerSchema(version: number): DataDirectoryError {
  return new DataDirectoryError(
    `The data directory was written by a newer version of Watchpost (schema ${version}, this version knows ${migrations.length})`,
    'Start that version again, or start this one with another DATA_DIR.',
  );
}

function explain(error: unknown): unknown {
  const primary = sqliteErrorSchema.safeParse(error).data;
  if (primary === undefined || !damaged.has(primary.errcode & 0xff)) return storageError(error);
  return new DataDirectoryError(
    'The database in the data directory is damaged, or is no SQLite database',
    'Restore the data directory from a backup, or start with another DATA_DIR.',
    { cause: error },
  );
}

const sqliteErrorSchema = z.object({ errcode: z.int() });

/** SQLITE_CORRUPT, SQLITE_NOTADB. */
const damaged = new Set([11, 26]);

import { closeSync, openSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { z } from 'zod';
import { DataDirectoryError } from '../files/create-folder.ts';
import { schema, schemaVersion } from './schema.ts';
import { storageError, busyTimeoutMs, transaction, withStorageErrors } from './transaction.ts';

const rowSchema = z.object({ file: z.string() });

/**
 * Returns the path of the file of a database; null for one in memory. `location()` is younger than the oldest Node that
 * the package runs on.
 */
export function databaseFile(database: DatabaseSync): string | null {
  const { file } = rowSchema.parse(withStorageErrors(() => database.prepare('PRAGMA database_list').get()));
  return file === '' ? null : file;
}

/**
 * Opens the database of the data directory, or one in memory. Creates its tables if it is empty. Throws
 * `DataDirectoryError` if the file is no database or has another schema, and `TransientError` for disk faults.
 */
export function openDatabase(path: string): DatabaseSync {
  if (path !== ':memory:') createPrivately(path);
  const database = open(path);
  try {
    configure(database);
    prepare(database);
    return database;
  } catch (error) {
    database.close();
    throw explain(error);
  }
}

/**
 * Opens a database without changing it, also one of another version. Throws `DataDirectoryError` if it is damaged,
 * which `verify` looks for in every page.
 */
export function openForReading(path: string, { verify = true } = {}): DatabaseSync {
  try {
    const database = new DatabaseSync(path, { timeout: busyTimeoutMs, readOnly: true });
    if (verify) verifyDatabase(database);
    return database;
  } catch (error) {
    throw explain(error);
  }
}

/** Creates the file with mode 0600, which SQLite copies to its write-ahead log: stored URLs can contain passwords. */
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
    'The data directory does not exist',
    'Start the service once to create it, or set --data-dir or WATCHPOST_DATA_DIR to the directory of the service.',
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

/**
 * With FULL, every commit waits for the disk, so that a power loss removes no acknowledged write. On a cloud volume
 * this raised a commit from 0.03 to 0.4 ms, and to 4 ms beside other work; ticks wait beside the event loop
 * (`group-commit.ts`).
 */
function configure(database: DatabaseSync): void {
  // The first has no effect once there are tables.
  database.exec(`
    PRAGMA auto_vacuum = INCREMENTAL;
    PRAGMA journal_mode = WAL;
    PRAGMA synchronous = FULL;
    PRAGMA journal_size_limit = 67108864;
    PRAGMA secure_delete = ON;
  `);
}

/**
 * Creates the tables of an empty database. Takes the write lock first, since another process may create them
 * concurrently.
 */
function prepare(database: DatabaseSync): void {
  if (readVersion(database) === schemaVersion) return;
  transaction(database, () => {
    const version = readVersion(database);
    if (version === schemaVersion) return;
    if (version !== 0) throw otherSchema();
    database.exec(schema);
    database.exec(`PRAGMA user_version = ${schemaVersion}`);
  });
}

function readVersion(database: DatabaseSync): number {
  return versionSchema.parse(database.prepare('PRAGMA user_version').get()).user_version;
}

const versionSchema = z.object({ user_version: z.int() });

function otherSchema(): DataDirectoryError {
  return new DataDirectoryError(
    'The data directory was written by another version of Watchpost, and before release 1.0 none reads the data of another',
    'Start this version with another data directory, or the version that wrote this one. Keys, jobs and watches have to be created again.',
  );
}

function explain(error: unknown): unknown {
  const primary = sqliteErrorSchema.safeParse(error).data;
  if (primary === undefined || !damaged.has(primary.errcode & 0xff)) return storageError(error);
  return damagedError('it is no SQLite database or lacks pages', error);
}

function damagedError(reason: string, cause?: unknown): DataDirectoryError {
  return new DataDirectoryError(
    `The database in the data directory is damaged (${reason})`,
    'Restore the newest backup with: npm run watchpost -- restore FOLDER --data-dir DIR. Without a backup, start with another data directory.',
    { cause },
  );
}

/**
 * Reads every page of the database. Throws `DataDirectoryError` if one is damaged
 * (sqlite.org/pragma.html#pragma_quick_check).
 */
export function verifyDatabase(database: DatabaseSync): void {
  let problems: string[];
  try {
    const rows = z.array(z.object({ quick_check: z.string() }));
    problems = rows.parse(database.prepare('PRAGMA quick_check(1)').all()).map((row) => row.quick_check);
  } catch (error) {
    throw explain(error);
  }
  if (problems[0] !== 'ok') throw damagedError(problems[0]?.replaceAll(/\s+/g, ' ') ?? 'no result');
}

const sqliteErrorSchema = z.object({ errcode: z.int() });

/** SQLITE_CORRUPT, SQLITE_NOTADB. */
const damaged = new Set([11, 26]);

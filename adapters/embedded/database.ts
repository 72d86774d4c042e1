import { closeSync, openSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { z } from 'zod';
import { DataDirectoryError } from './data-directory-error.ts';
import { migrations } from './schema.ts';
import { storageError } from './storage-error.ts';
import { transaction } from './transaction.ts';

/**
 * Opens the database of the data directory, or one in memory, and migrates its schema. Throws `DataDirectoryError` if the file is
 * no database or has a newer schema, and `TransientError` for disk faults.
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

/**
 * Opens a database without changing it: neither its schema nor its files, which an earlier release may need. Throws
 * `DataDirectoryError` if it is damaged.
 */
export function openForReading(path: string): DatabaseSync {
  try {
    const database = new DatabaseSync(path, { timeout: busyTimeoutMs, readOnly: true });
    verifyDatabase(database);
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

/** The CLI can open the database beside the service, and writes for milliseconds. */
const busyTimeoutMs = 5_000;

/**
 * With FULL, every commit waits for the disk, so that a power loss removes no acknowledged write. On a cloud volume this raised a
 * commit from 0.03 to 0.4 ms; 80 jobs with ticks every 10 s commit 8 times per second.
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

/** Runs one migration. Reads the version again under the write lock, since another process may have migrated first. */
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
    `The data directory was written by a newer version of Watchpost (schema ${version}, this version supports up to ${migrations.length})`,
    'Start the newer version, or start this version with another data directory.',
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

/** Reads every page of the database. Throws `DataDirectoryError` if one is damaged (sqlite.org/pragma.html#pragma_quick_check). */
export function verifyDatabase(database: DatabaseSync): void {
  let found: string[];
  try {
    const rows = z.array(z.object({ quick_check: z.string() }));
    found = rows.parse(database.prepare('PRAGMA quick_check(1)').all()).map((row) => row.quick_check);
  } catch (error) {
    throw explain(error);
  }
  if (found[0] !== 'ok') throw damagedError(found[0]?.replaceAll(/\s+/g, ' ') ?? 'no result');
}

const sqliteErrorSchema = z.object({ errcode: z.int() });

/** SQLITE_CORRUPT, SQLITE_NOTADB. */
const damaged = new Set([11, 26]);

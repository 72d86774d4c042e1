import { embeddedRuns } from '../../../support/select-runs.ts';
import { statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, onTestFinished, test } from 'vitest';
import { DataDirectoryError } from '../../../../adapters/embedded/files/create-folder.ts';
import { openDatabase } from '../../../../adapters/embedded/sqlite/database.ts';
import { schemaVersion } from '../../../../adapters/embedded/sqlite/schema.ts';
import { StorageError } from '../../../../core/errors.ts';
import { transaction } from '../../../../adapters/embedded/sqlite/transaction.ts';
import { TransientError } from '../../../../core/errors.ts';
import { folderOfTest } from '../../../support/temporary-folder.ts';

test('every commit waits for the disk', () => {
  const database = open();

  expect(pragma(database, 'journal_mode')).toBe('wal');
  expect(pragma(database, 'synchronous')).toBe(2);
  expect(pragma(database, 'foreign_keys')).toBe(0);
  expect(pragma(database, 'user_version')).toBe(schemaVersion);
});

test('the database and its write-ahead log are readable by their owner only', () => {
  const path = newPath();
  open(path).exec('CREATE TABLE anything (column) ');

  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(statSync(`${path}-wal`).mode & 0o777).toBe(0o600);
});

test('the content survives a reopening and a second process', () => {
  const path = newPath();
  const first = open(path);
  first.exec(`INSERT INTO slots VALUES ('harbour', 'a')`);

  expect(open(path).prepare('SELECT job_id FROM slots').all()).toEqual([{ job_id: 'a' }]);
});

test.each([1, 8, schemaVersion + 1])(
  'a database of another version (%i) is refused with the way out, and left unchanged',
  (version) => {
    const path = newPath();
    open(path).exec(`PRAGMA user_version = ${version}`);

    expect(() => openDatabase(path)).toThrow(DataDirectoryError);
    expect(() => openDatabase(path)).toThrow('written by another version of Watchpost');
    expect(pragma(new DatabaseSync(path), 'user_version')).toBe(version);
  },
);

test('a file that is not a database is rejected and left unchanged', () => {
  const path = newPath();
  writeFileSync(path, 'Something else entirely, and longer than the header of a database.'.repeat(20));

  expect(() => openDatabase(path)).toThrow(DataDirectoryError);
  expect(statSync(path).size).toBe(66 * 20);
});

test('a missing directory is rejected with a remediation', () => {
  const path = join(folderOfTest(), 'nowhere', 'watchpost.sqlite');

  expect(() => openDatabase(path)).toThrow(DataDirectoryError);
  expect(() => openDatabase(path)).toThrow('The data directory does not exist');
});

test('a lock that another process holds too long is a transient error and leaves no partial write', () => {
  const path = newPath();
  const [holder, waiting] = [open(path), open(path)];
  waiting.exec('PRAGMA busy_timeout = 20');
  const take = () => transaction(waiting, () => waiting.exec(`INSERT INTO slots VALUES ('harbour', 'a')`));
  holder.exec('BEGIN IMMEDIATE');

  expect(take).toThrow(TransientError);
  holder.exec('ROLLBACK');
  take();

  expect(holder.prepare('SELECT count(*) AS count FROM slots').get()).toEqual({ count: 1 });
});

test('a transaction that throws leaves the database unchanged and usable', () => {
  const database = open();
  const insert = () => database.exec(`INSERT INTO slots VALUES ('harbour', 'a')`);

  expect(() =>
    transaction(database, () => {
      insert();
      throw new RangeError('Changed my mind');
    }),
  ).toThrow(RangeError);
  transaction(database, insert);

  expect(database.prepare('SELECT count(*) AS count FROM slots').get()).toEqual({ count: 1 });
});

test('an unreadable record is reported without its content', async () => {
  const database = open();
  database.exec(`INSERT INTO sources VALUES ('a', '{"url": "rtsp://user:secret@camera"}')`);

  const reading = embeddedRuns(database).jobs.source('a');

  await expect(reading).rejects.toThrow(StorageError);
  await expect(reading).rejects.toThrow('A stored record does not fit its schema');
});

test('a closed database is a transient error, because the service is stopping', async () => {
  const database = openDatabase(':memory:');
  const store = embeddedRuns(database).jobs;
  database.close();

  await expect(store.countActive('harbour')).rejects.toThrow(TransientError);
});

function newPath(): string {
  return join(folderOfTest(), 'watchpost.sqlite');
}

function open(path = newPath()): DatabaseSync {
  const database = openDatabase(path);
  onTestFinished(() => database.close());
  return database;
}

function pragma(database: DatabaseSync, name: string): unknown {
  return Object.values(database.prepare(`PRAGMA ${name}`).get() ?? {})[0];
}

import { statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it, onTestFinished } from 'vitest';
import { DataDirectoryError } from '../../../adapters/embedded/data-directory-error.ts';
import { openDatabase } from '../../../adapters/embedded/database.ts';
import { createJobStore } from '../../../adapters/embedded/job-store.ts';
import { migrations } from '../../../adapters/embedded/schema.ts';
import { StorageError } from '../../../core/errors.ts';
import { transaction } from '../../../adapters/embedded/transaction.ts';
import { TransientError } from '../../../core/errors.ts';
import { temporaryDirectory } from './temporary-directory.ts';

describe('The database', () => {
  it('waits for the disk at every commit', () => {
    const database = open();

    expect(pragma(database, 'journal_mode')).toBe('wal');
    expect(pragma(database, 'synchronous')).toBe(2);
    expect(pragma(database, 'foreign_keys')).toBe(0);
    expect(pragma(database, 'user_version')).toBe(migrations.length);
  });

  it('is readable by its owner only, and so is its write-ahead log', () => {
    const path = newPath();
    open(path).exec('CREATE TABLE anything (column) ');

    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(statSync(`${path}-wal`).mode & 0o777).toBe(0o600);
  });

  it('keeps what is in it when it is opened again, and beside another process', () => {
    const path = newPath();
    const first = open(path);
    first.exec(`INSERT INTO slots VALUES ('harbour', 'a')`);

    expect(open(path).prepare('SELECT job_id FROM slots').all()).toEqual([{ job_id: 'a' }]);
  });

  it('of a newer version is refused, and says what to do', () => {
    const path = newPath();
    open(path).exec('PRAGMA user_version = 99');

    expect(() => openDatabase(path)).toThrow(DataDirectoryError);
    expect(() => openDatabase(path)).toThrow(
      /newer version of Watchpost \(schema 99, this version knows \d+\)/,
    );
    expect(pragma(new DatabaseSync(path), 'user_version')).toBe(99);
  });

  it('that is none is refused and stays as it was', () => {
    const path = newPath();
    writeFileSync(path, 'Something else entirely, and longer than the header of a database.'.repeat(20));

    expect(() => openDatabase(path)).toThrow(DataDirectoryError);
    expect(statSync(path).size).toBe(66 * 20);
  });

  it('in a directory that is not there is refused, and says what to do', () => {
    const path = join(temporaryDirectory(), 'nowhere', 'watchpost.sqlite');

    expect(() => openDatabase(path)).toThrow(DataDirectoryError);
    expect(() => openDatabase(path)).toThrow('There is no such data directory');
  });

  it('that another process holds too long is a passing fault, and nothing is half done', () => {
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

  it('whose transaction throws is as it was, and takes the next one', () => {
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

  it('with a record that nobody can read says so, and not what is in it', async () => {
    const database = open();
    database.exec(`INSERT INTO sources VALUES ('a', '{"url": "rtsp://user:secret@camera"}')`);

    const reading = createJobStore(database).source('a');

    await expect(reading).rejects.toThrow(StorageError);
    await expect(reading).rejects.toThrow('A stored record does not fit its schema');
  });

  it('that is closed is a passing fault: the service is stopping', async () => {
    const database = openDatabase(':memory:');
    const store = createJobStore(database);
    database.close();

    await expect(store.countActive('harbour')).rejects.toThrow(TransientError);
  });
});

function newPath(): string {
  return join(temporaryDirectory(), 'watchpost.sqlite');
}

function open(path = newPath()): DatabaseSync {
  const database = openDatabase(path);
  onTestFinished(() => database.close());
  return database;
}

function pragma(database: DatabaseSync, name: string): unknown {
  return Object.values(database.prepare(`PRAGMA ${name}`).get() ?? {})[0];
}

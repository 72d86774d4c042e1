import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { openDatabase } from '../../../../adapters/embedded/sqlite/database.ts';
import { removeDeleted } from '../../../../adapters/embedded/sqlite/vacuum.ts';
import { folderOfTest } from '../../../support/temporary-folder.ts';

/** A database of rows that SQLite has often moved between pages: it leaves copies of them behind. */
function fill() {
  const path = join(folderOfTest(), 'watchpost.sqlite');
  const database = openDatabase(path);
  database.exec(`
    CREATE TABLE notes (id INTEGER PRIMARY KEY, caller TEXT, text TEXT);
    CREATE TABLE named (name TEXT PRIMARY KEY, caller TEXT, text TEXT) WITHOUT ROWID;
    CREATE INDEX named_text ON named (text);
  `);
  const tables = ['notes (id, caller, text)', 'named (name, caller, text)'];
  const inserts = tables.map((table) => database.prepare(`INSERT INTO ${table} VALUES (?, ?, ?)`));
  database.exec('BEGIN');
  for (let row = 0; row < 6_000; row += 1) {
    const caller = row % 3 === 0 ? 'other' : 'erased';
    const text = `${caller}-${row}-`.repeat((row * 7919) % 90);
    inserts.forEach((insert, table) => insert.run((row * 7919 + table) % 6_007, caller, text));
    if (row % 1_000 === 999) database.exec('COMMIT; BEGIN');
  }
  database.exec('COMMIT');
  const contains = () => ['', '-wal'].some((suffix) => readFileSync(`${path}${suffix}`).includes('erased-'));
  const erase = () =>
    database.exec("DELETE FROM notes WHERE caller = 'erased'; DELETE FROM named WHERE caller = 'erased'");
  const others = () => [
    database.prepare('SELECT * FROM notes ORDER BY id').all(),
    database.prepare('SELECT * FROM named ORDER BY name').all(),
    database.prepare('SELECT text FROM named INDEXED BY named_text ORDER BY text').all(),
  ];
  return { database, path, contains, erase, others };
}

test('rows that were deleted are in no file after their removal, and the others are as before', async () => {
  const { database, path, contains, erase, others } = fill();
  const before = statSync(path).size;
  erase();
  database.exec('PRAGMA wal_checkpoint(TRUNCATE)');
  expect(contains()).toBe(true);
  const kept = others();
  await removeDeleted(database);
  expect(contains()).toBe(false);
  expect(statSync(path).size).toBeLessThan(before);
  expect(others()).toEqual(kept);
  // A write of a page that was read before the removal brings nothing back.
  database.exec("UPDATE notes SET text = text || 'x'; UPDATE named SET text = text || 'x'");
  database.exec('PRAGMA wal_checkpoint(TRUNCATE)');
  expect(contains()).toBe(false);
  expect(database.prepare('PRAGMA integrity_check').get()).toEqual({ integrity_check: 'ok' });
  database.close();
});

test('others have their turn between the steps of a removal, and may write', async () => {
  const { database, path, contains, erase } = fill();
  erase();
  const other = openDatabase(path);
  const removal = new AbortController();
  let turns = 0;
  const writes = (async () => {
    for (; !removal.signal.aborted; turns += 1) {
      other.prepare('INSERT INTO notes (caller, text) VALUES (?, ?)').run('other', 'x'.repeat(turns % 3000));
      await setImmediate();
    }
  })();
  await removeDeleted(database);
  removal.abort();
  await writes;
  expect(turns).toBeGreaterThan(1);
  expect(contains()).toBe(false);
  expect(database.prepare('PRAGMA integrity_check').get()).toEqual({ integrity_check: 'ok' });
  for (const each of [other, database]) each.close();
});

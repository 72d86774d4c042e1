import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { openDatabase } from '../../../../adapters/embedded/sqlite/database.ts';
import { removeDeleted, vacuumMarked } from '../../../../adapters/embedded/sqlite/vacuum.ts';
import { folderOfTest } from '../../../support/temporary-folder.ts';

function fill() {
  const path = join(folderOfTest(), 'watchpost.sqlite');
  const database = openDatabase(path);
  database.exec('CREATE TABLE notes (id INTEGER PRIMARY KEY, caller TEXT, text TEXT)');
  const insert = database.prepare('INSERT INTO notes (caller, text) VALUES (?, ?)');
  database.exec('BEGIN');
  for (let row = 0; row < 6_000; row += 1) {
    const caller = row % 2 === 0 ? 'erased' : 'other';
    insert.run(caller, `${caller}-`.repeat((row * 7919) % 500));
  }
  database.exec('COMMIT');
  const contains = () => ['', '-wal'].some((suffix) => readFileSync(`${path}${suffix}`).includes('erased-'));
  const erase = () => database.exec("DELETE FROM notes WHERE caller = 'erased'");
  return { database, path, contains, erase };
}

test.each([100_000, 10])(
  'rows that were deleted are in no file after their removal (rewritten up to %i pages)',
  async (maxPages) => {
    const { database, path, contains, erase } = fill();
    expect(contains()).toBe(true);
    const before = statSync(path).size;
    erase();
    await removeDeleted(database, maxPages);
    expect(contains()).toBe(false);
    expect(statSync(path).size).toBeLessThan(before);
    database.close();
  },
);

test('a large database is returned in steps, between which others have their turn, and is rewritten at the next start', async () => {
  const { database, path, erase } = fill();
  erase();
  let turns = 0;
  const removal = new AbortController();
  const others = (async () => {
    for (; !removal.signal.aborted; turns += 1) await setImmediate();
  })();
  await removeDeleted(database, 10);
  removal.abort();
  await others;
  expect(turns).toBeGreaterThan(1);
  const mark = () => database.prepare('PRAGMA application_id').get();
  expect(mark()).toEqual({ application_id: 1 });
  vacuumMarked(database);
  expect(mark()).toEqual({ application_id: 0 });
  expect(database.prepare('PRAGMA auto_vacuum').get()).toEqual({ auto_vacuum: 2 });
  expect(statSync(path).size).toBeGreaterThan(0);
  database.close();
});

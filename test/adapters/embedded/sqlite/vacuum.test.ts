import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { expect, test, vi } from 'vitest';
import { TransientError } from '../../../../core/errors.ts';
import { openDatabase } from '../../../../adapters/embedded/sqlite/database.ts';
import { markDeleted, removeDeleted, startRemoval } from '../../../../adapters/embedded/sqlite/vacuum.ts';
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
  const erase = () => {
    database.exec("DELETE FROM notes WHERE caller = 'erased'; DELETE FROM named WHERE caller = 'erased'");
    markDeleted(database);
  };
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
  expect(await removeDeleted(database, setImmediate)).toBe(true);
  expect(await removeDeleted(database, setImmediate)).toBe(false);
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
  await removeDeleted(database, setImmediate);
  removal.abort();
  await writes;
  expect(turns).toBeGreaterThan(1);
  expect(contains()).toBe(false);
  expect(database.prepare('PRAGMA integrity_check').get()).toEqual({ integrity_check: 'ok' });
  for (const each of [other, database]) each.close();
});

test('a backup that reads stops neither a removal for ever nor others, and the next removal completes it', async () => {
  const { database, path, contains, erase } = fill();
  erase();
  const backup = openDatabase(path);
  backup.exec('BEGIN; SELECT count(*) FROM notes');
  const before = database.prepare('PRAGMA busy_timeout').get();
  let pauses = 0;
  const removal = removeDeleted(database, async () => setImmediate((pauses += 1)));
  await expect(removal).rejects.toThrow(TransientError);
  expect(pauses).toBeLessThan(200);
  // Writes of the service wait for others as before.
  expect(database.prepare('PRAGMA busy_timeout').get()).toEqual(before);
  expect(contains()).toBe(true);
  backup.exec('COMMIT');
  expect(await removeDeleted(database, setImmediate)).toBe(true);
  expect(contains()).toBe(false);
  for (const each of [backup, database]) each.close();
});

test('rows that are deleted during a removal are overwritten by the next', async () => {
  const { database, contains, erase } = fill();
  markDeleted(database);
  let pauses = 0;
  await removeDeleted(database, async () => {
    pauses += 1;
    if (pauses === 2) erase();
    await setImmediate();
  });
  expect(await removeDeleted(database, setImmediate)).toBe(true);
  expect(contains()).toBe(false);
  expect(await removeDeleted(database, setImmediate)).toBe(false);
  database.close();
});

/** Starts the removals of a service, whose waits between them end when the test says so. */
function startWithWaits(database: ReturnType<typeof openDatabase>) {
  const log = { info: vi.fn(), warning: vi.fn() };
  const waits: number[] = [];
  let pass: () => void = () => undefined;
  const end = startRemoval({
    database,
    log,
    wait: async (milliseconds, _, { signal }) => {
      signal.throwIfAborted();
      if (milliseconds < 1_000) return setImmediate();
      waits.push(milliseconds);
      const { promise, resolve } = Promise.withResolvers<void>();
      pass = resolve;
      signal.addEventListener('abort', () => resolve());
      return promise;
    },
  });
  return { log, end, waits, passTime: () => pass() };
}

test('a service completes what the one before has left, and what is deleted later, and retries after a minute what it could not', async () => {
  const { database, path, contains, erase } = fill();
  erase();
  const backup = openDatabase(path);
  backup.exec('BEGIN; SELECT count(*) FROM notes');
  const { log, end, waits, passTime } = startWithWaits(database);
  await expect.poll(() => log.warning.mock.calls).toHaveLength(1);
  expect(log.warning.mock.lastCall?.[1]).toEqual({
    error: expect.stringContaining('Another process reads the database'),
  });
  backup.exec('COMMIT');
  passTime();
  await expect.poll(() => log.info.mock.calls).toEqual([['Erased data overwritten in the database']]);
  expect(contains()).toBe(false);
  markDeleted(database);
  await expect.poll(() => waits).toHaveLength(2);
  passTime();
  await expect.poll(() => log.info.mock.calls).toHaveLength(2);
  expect(waits.slice(0, 2)).toEqual([60_000, 1_000]);
  await end();
  for (const each of [backup, database]) each.close();
});

test('a removal ends after its step when the service ends, and leaves the rest to the next start', async () => {
  const { database, erase } = fill();
  erase();
  const { log, end } = startWithWaits(database);
  await end();
  expect(log.warning).not.toHaveBeenCalled();
  expect(await removeDeleted(database, setImmediate)).toBe(true);
  database.close();
});

test('a service overwrites each hour what has expired, of which nothing is marked', async () => {
  const { database, contains } = fill();
  database.exec("DELETE FROM notes WHERE caller = 'erased'; DELETE FROM named WHERE caller = 'erased'");
  const log = { info: vi.fn(), warning: vi.fn() };
  let seconds = 0;
  const wait = async (milliseconds: number) => {
    if (milliseconds === 1_000) seconds += 1;
    await setImmediate();
  };
  const end = startRemoval({ database, log, wait });
  await vi.waitFor(() => expect(log.info).toHaveBeenCalled(), { timeout: 20_000 });
  await end();
  expect(seconds).toBeGreaterThanOrEqual(3_599);
  expect(contains()).toBe(false);
});

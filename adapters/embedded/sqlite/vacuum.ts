import type { DatabaseSync } from 'node:sqlite';
import { fsyncSync, openSync, readSync, statSync, writeSync } from 'node:fs';
import { setTimeout as sleep, setImmediate } from 'node:timers/promises';
import { z } from 'zod';
import { TransientError } from '../../../core/errors.ts';
import type { Log } from '../../../core/ports/observability.ts';
import { databaseFile } from './database.ts';
import { transaction, withoutWaiting, withStorageErrors } from './transaction.ts';

/** Sizes and flags of a page of a B-tree (sqlite.org/fileformat2.html#b_tree_pages). */
const treePages = new Map([
  [0x02, 12],
  [0x05, 12],
  [0x0a, 8],
  [0x0d, 8],
]);
const fileHeaderBytes = 100;
/**
 * Bytes of an entry of a page that says where pages belong; such a page follows each group of pages of as many as it
 * has entries.
 */
const entryBytes = 5;

/**
 * Overwrites what a page holds between the list of its rows and the first of them. SQLite leaves copies there of rows
 * that it has moved to another page, and never reads them. Returns true if the page has changed. `number` counts from
 * 1.
 */
export function clearGap(page: Buffer, number: number): boolean {
  if (isPointerMap(number, page.length)) return false;
  const headerAt = number === 1 ? fileHeaderBytes : 0;
  const headerBytes = treePages.get(page[headerAt] ?? 0);
  if (headerBytes === undefined) return false;
  const begin = headerAt + headerBytes + 2 * page.readUInt16BE(headerAt + 3);
  const end = page.readUInt16BE(headerAt + 5) || 65_536;
  if (end > page.length || begin >= end) return false;
  const gap = page.subarray(begin, end);
  if (gap.every((byte) => byte === 0)) return false;
  gap.fill(0);
  return true;
}

function isPointerMap(number: number, pageBytes: number): boolean {
  return number > 1 && (number - 2) % (Math.floor(pageBytes / entryBytes) + 1) === 0;
}

/** Pages that one step reads and writes. */
const pagesOfStep = 250;
const pauseMs = 20;
/** A process that uses the database for as many attempts at one step ends the pass, as a long backup does. */
const maxAttempts = 50;
/** Between looks for deletions, and after a pass that failed. */
const [betweenPassesMs, afterFailureMs] = [1_000, 60_000];
/**
 * Looks after which a pass follows anyhow: each minute expired rows are removed, and reading the file for those of a
 * minute costs too much. An hour.
 */
const looksUntilPass = 3_600;
const mark = 'deletions_to_overwrite';

type Pause = (milliseconds: number) => Promise<unknown>;

/** States in the transaction of a deletion that files contain deleted rows. */
export function markDeleted(database: DatabaseSync): void {
  const insert = "INSERT INTO facts VALUES (?, '1') ON CONFLICT (name) DO UPDATE SET value = value + 1";
  database.prepare(insert).run(mark);
}

type RemovalDeps = {
  database: DatabaseSync;
  log: Pick<Log, 'info' | 'warning'>;
  wait?: (milliseconds: number, value: undefined, options: { signal: AbortSignal }) => Promise<unknown>;
};

/**
 * Removes what a process before has left, what is deleted from now on, and hourly what has expired. Returns a function
 * that ends a pass after its step.
 */
export function startRemoval({ database, log, wait = sleep }: RemovalDeps): () => Promise<void> {
  const ending = new AbortController();
  const { signal } = ending;
  const pause: Pause = async (milliseconds) => wait(milliseconds, undefined, { signal });
  const repeat = async () => {
    for (let looks = 1; !signal.aborted; looks += 1) {
      let waitMs = betweenPassesMs;
      try {
        if (looks % looksUntilPass === 0) transaction(database, () => markDeleted(database));
        if (await removeDeleted(database, pause)) log.info('Erased data overwritten in the database');
      } catch (error) {
        waitMs = afterFailureMs;
        if (!signal.aborted) log.warning('Erased data not overwritten yet', { error: String(error) });
      }
      await pause(waitMs).catch(() => undefined);
    }
  };
  const ended = repeat();
  return async () => {
    ending.abort();
    await ended;
  };
}

/**
 * Removes what was deleted from the files of a database, in steps between which others have their turn. Deleted rows
 * are overwritten already (`secure_delete`); free pages are returned, and copies that SQLite has left of moved rows are
 * overwritten. Returns false if nothing was marked. Throws `TransientError` for disk faults and if another process uses
 * the database for long: the mark remains then.
 */
export async function removeDeleted(database: DatabaseSync, pause: Pause = sleep): Promise<boolean> {
  const find = database.prepare('SELECT value FROM facts WHERE name = ?');
  const marked = withStorageErrors(() => find.get(mark));
  if (marked === undefined) return false;
  await returnFreePages(database, pause);
  const path = databaseFile(database);
  if (path !== null) await clearGaps(database, path, pause);
  // A deletion meanwhile has changed the mark.
  const remove = database.prepare('DELETE FROM facts WHERE name = ? AND value = ?');
  withStorageErrors(() => remove.run(mark, z.string().parse(marked['value'])));
  return true;
}

async function returnFreePages(database: DatabaseSync, pause: Pause): Promise<void> {
  const vacuum = () => database.exec(`PRAGMA incremental_vacuum(${pagesOfStep})`);
  for (let left = Infinity, free = readNumber(database, 'freelist_count'); free > 0 && free < left;) {
    left = free;
    await inTurn(database, pause, vacuum);
    free = readNumber(database, 'freelist_count');
  }
}

/**
 * Files of databases. One that is closed would end the locks that SQLite holds on it (sqlite.org/howtocorrupt.html).
 */
const files = new WeakMap<DatabaseSync, number>();

async function clearGaps(database: DatabaseSync, path: string, pause: Pause): Promise<void> {
  const file = files.get(database) ?? openSync(path, 'r+');
  files.set(database, file);
  const pageBytes = readNumber(database, 'page_size');
  const pages = Buffer.alloc(pagesOfStep * pageBytes);
  for (let first = 1; first <= readNumber(database, 'page_count'); first += pagesOfStep)
    await inTurn(database, pause, () => clearSome(database, path, { file, pages, pageBytes, first }));
}

/** Runs a step after a pause, and again while another process uses the database. */
async function inTurn(database: DatabaseSync, pause: Pause, step: () => void): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    await pause(pauseMs);
    try {
      return withoutWaiting(database, step);
    } catch (error) {
      if (!(error instanceof TransientError) || attempt === maxAttempts) throw error;
    }
  }
}

type Step = { file: number; pages: Buffer; pageBytes: number; first: number };

/**
 * Clears the pages of a step in the file. Throws `TransientError` if another connection reads or writes. With the write
 * lock and an empty write-ahead log nobody else writes to the file, and a change within a gap changes nothing that
 * SQLite reads, so that neither a crash can do harm.
 */
function clearSome(database: DatabaseSync, path: string, { file, pages, pageBytes, first }: Step): void {
  const result = database.prepare('PRAGMA wal_checkpoint(TRUNCATE)').get();
  if (z.object({ busy: z.int() }).parse(result).busy !== 0) throw inUse();
  transaction(database, () => {
    if (statSync(`${path}-wal`, { throwIfNoEntry: false })?.size) throw inUse();
    const read = readSync(file, pages, 0, pages.length, (first - 1) * pageBytes);
    let isChanged = false;
    for (let offset = 0; offset + pageBytes <= read; offset += pageBytes) {
      const page = pages.subarray(offset, offset + pageBytes);
      if (!clearGap(page, first + offset / pageBytes)) continue;
      writeSync(file, page, 0, pageBytes, (first - 1) * pageBytes + offset);
      isChanged = true;
    }
    if (!isChanged) return;
    fsyncSync(file);
    // Connections forget the pages that they have read: this one by the first statement, others by the write.
    database.exec('PRAGMA shrink_memory; PRAGMA application_id = 0');
  });
}

function inUse(): TransientError {
  return new TransientError('Another process reads the database, such as a backup. Wait for its end.');
}

function readNumber(database: DatabaseSync, name: 'page_count' | 'page_size' | 'freelist_count'): number {
  return withStorageErrors(
    () => z.record(z.literal(name), z.int()).parse(database.prepare(`PRAGMA ${name}`).get())[name],
  );
}

const rowsOfStep = 500;

/** Rows of a table: the columns of its key, and a condition on one value. */
type Rows = { table: string; key: string; where: string };

/**
 * Creates the removal of rows in steps, between which others have their turn: after a long sleep, or if the clock is
 * set forward, gigabytes expire together. Resolves to the number of removed rows.
 */
export function createRemovalInSteps(
  database: DatabaseSync,
  { table, key, where }: Rows,
): (value: string | number) => Promise<number> {
  const some = `SELECT ${key} FROM ${table} WHERE ${where} LIMIT ${rowsOfStep}`;
  const remove = database.prepare(`DELETE FROM ${table} WHERE (${key}) IN (${some})`);
  return async (value) => {
    for (let total = 0; ; await setImmediate()) {
      const removed = Number(withStorageErrors(() => remove.run(value)).changes);
      total += removed;
      if (removed < rowsOfStep) return total;
    }
  };
}

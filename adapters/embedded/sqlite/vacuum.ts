import type { DatabaseSync } from 'node:sqlite';
import { fsyncSync, openSync, readSync, statSync, writeSync } from 'node:fs';
import { setImmediate, setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { clearGap } from './page-gaps.ts';
import { transaction, withStorageErrors } from './transaction.ts';

const pagesOfStep = 1_000;
const retryMs = 20;

/**
 * Removes what was deleted from the files of a database, in steps between which others have their turn. Deleted rows are overwritten already
 * (`secure_delete`); free pages are returned, and copies that SQLite has left of moved rows are overwritten.
 */
export async function removeDeleted(database: DatabaseSync): Promise<void> {
  for (let left = Infinity, free = readNumber(database, 'freelist_count'); free > 0 && free < left;) {
    left = free;
    withStorageErrors(() => database.exec(`PRAGMA incremental_vacuum(${pagesOfStep})`));
    await setImmediate();
    free = readNumber(database, 'freelist_count');
  }
  const path = database.location();
  if (path !== null) await clearGaps(database, path);
  // The write-ahead log contains what was removed until it is overwritten.
  withStorageErrors(() => checkpoint(database));
}

/** Files of databases. One that is closed would end the locks that SQLite holds on it (sqlite.org/howtocorrupt.html). */
const files = new WeakMap<DatabaseSync, number>();

async function clearGaps(database: DatabaseSync, path: string): Promise<void> {
  const file = files.get(database) ?? openSync(path, 'r+');
  files.set(database, file);
  const pageBytes = readNumber(database, 'page_size');
  const pages = Buffer.alloc(pagesOfStep * pageBytes);
  for (let first = 1; first <= readNumber(database, 'page_count');) {
    if (clearSome(database, path, { file, pages, pageBytes, first })) first += pagesOfStep;
    else await sleep(retryMs);
    await setImmediate();
  }
}

type Step = { file: number; pages: Buffer; pageBytes: number; first: number };

/**
 * Clears the pages of a step in the file. Returns false if another connection reads or writes. With the write lock and an empty write-ahead log nobody else
 * writes to the file, and a change within a gap changes nothing that SQLite reads, so that neither a crash can do harm.
 */
function clearSome(database: DatabaseSync, path: string, { file, pages, pageBytes, first }: Step): boolean {
  if (!withStorageErrors(() => checkpoint(database))) return false;
  return transaction(database, () => {
    if (statSync(`${path}-wal`, { throwIfNoEntry: false })?.size) return false;
    const read = readSync(file, pages, 0, pages.length, (first - 1) * pageBytes);
    for (let at = 0; at + pageBytes <= read; at += pageBytes) {
      const page = pages.subarray(at, at + pageBytes);
      if (clearGap(page, first + at / pageBytes))
        writeSync(file, page, 0, pageBytes, (first - 1) * pageBytes + at);
    }
    fsyncSync(file);
    // Connections forget the pages that they have read: this one by the first statement, others by the write.
    database.exec('PRAGMA shrink_memory; PRAGMA application_id = 0');
    return true;
  });
}

/** Moves the write-ahead log into the file and empties it. Returns false if another connection uses it. */
function checkpoint(database: DatabaseSync): boolean {
  const result = database.prepare('PRAGMA wal_checkpoint(TRUNCATE)').get();
  return z.object({ busy: z.int() }).parse(result).busy === 0;
}

function readNumber(database: DatabaseSync, name: 'page_count' | 'page_size' | 'freelist_count'): number {
  return withStorageErrors(
    () => z.record(z.literal(name), z.int()).parse(database.prepare(`PRAGMA ${name}`).get())[name],
  );
}

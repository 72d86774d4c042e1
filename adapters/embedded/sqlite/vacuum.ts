import type { DatabaseSync } from 'node:sqlite';
import { setImmediate } from 'node:timers/promises';
import { z } from 'zod';
import { withStorageErrors } from './transaction.ts';

const autoVacuumSchema = z.object({ auto_vacuum: z.int() });
const [incremental, needsVacuum] = [2, 1];

/**
 * Rewrites a database that an erasure has marked, or whose free pages cannot be returned in steps yet. Only a whole rewrite removes the copies of
 * rows that SQLite leaves between others when it moves them. Needs a database that no other process uses.
 */
export function vacuumMarked(database: DatabaseSync): void {
  const { auto_vacuum: mode } = autoVacuumSchema.parse(database.prepare('PRAGMA auto_vacuum').get());
  if (mode === incremental && readMark(database) !== needsVacuum) return;
  database.exec(`PRAGMA auto_vacuum = ${incremental}; VACUUM; PRAGMA application_id = 0`);
}

function readMark(database: DatabaseSync): number {
  return z.object({ application_id: z.int() }).parse(database.prepare('PRAGMA application_id').get())
    .application_id;
}

/** Pages up to which a database is rewritten immediately: that takes 0.3 s. */
const maxRewrittenPages = 8_192;
const pagesOfStep = 1_000;

/**
 * Removes what was deleted from the file. Deleted rows are overwritten already (`secure_delete`): a small database is rewritten, a large one returns its
 * free pages in steps, between which others have their turn, and is rewritten at the next start.
 */
export async function removeDeleted(database: DatabaseSync, maxPages = maxRewrittenPages): Promise<void> {
  if (readPages(database, 'page_count') <= maxPages) {
    withStorageErrors(() => database.exec('VACUUM'));
  } else {
    withStorageErrors(() => database.exec(`PRAGMA application_id = ${needsVacuum}`));
    for (let left = Infinity, free = readPages(database, 'freelist_count'); free > 0 && free < left;) {
      left = free;
      withStorageErrors(() => database.exec(`PRAGMA incremental_vacuum(${pagesOfStep})`));
      await setImmediate();
      free = readPages(database, 'freelist_count');
    }
  }
  // The write-ahead log contains what was removed until it is overwritten.
  withStorageErrors(() => database.exec('PRAGMA wal_checkpoint(TRUNCATE)'));
}

function readPages(database: DatabaseSync, name: 'page_count' | 'freelist_count'): number {
  return z.record(z.literal(name), z.int()).parse(database.prepare(`PRAGMA ${name}`).get())[name];
}

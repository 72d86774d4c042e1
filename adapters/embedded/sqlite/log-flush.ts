import { open } from 'node:fs/promises';
import type { DatabaseSync } from 'node:sqlite';
import { storageError } from './storage-error.ts';

/**
 * Returns a function that resolves when all that was committed before its call is on disk: it flushes the write-ahead
 * log of the database, on a thread of its own. SQLite would hold up the event loop meanwhile, under a millisecond on an
 * idle machine, and 4 ms on a busy one. Calls share the next flush. A database in memory has no log.
 */
export function openLogFlush(database: DatabaseSync): () => Promise<void> {
  const path = database.location();
  let running = Promise.resolve();
  let next: Promise<void> | undefined;
  return () => {
    if (path === null) return running;
    next ??= running.then(() => {
      next = undefined;
      const flushing = flush(`${path}-wal`);
      running = flushing.catch(() => undefined);
      return flushing;
    });
    return next;
  };
}

/** Throws `TransientError` if the disk fails. */
async function flush(path: string): Promise<void> {
  try {
    await using file = await open(path);
    await file.datasync();
  } catch (error) {
    // A database that was closed has flushed its log, and removed it.
    if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) throw storageError(error);
  }
}

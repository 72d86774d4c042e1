import { closeSync, fdatasync, openSync } from 'node:fs';
import type { DatabaseSync } from 'node:sqlite';
import { promisify } from 'node:util';
import { storageError } from './storage-error.ts';

const flush = promisify(fdatasync);
/** Files of logs, which are closed with their databases. */
const files = new FinalizationRegistry<number>(closeSync);

/**
 * Returns a function that resolves when all that was committed before its call is on disk: it flushes the write-ahead
 * log of the database, on a thread of its own. SQLite would hold up the event loop meanwhile, under a millisecond on an
 * idle machine, and 4 ms on a busy one. Calls share the next flush, which throws `TransientError` if the disk fails. A
 * database in memory has no log.
 */
export function openLogFlush(database: Pick<DatabaseSync, 'location'>): () => Promise<void> {
  const path = database.location();
  if (path === null) return async () => undefined;
  const file = openLog(`${path}-wal`);
  files.register(database, file);
  let running: Promise<unknown> = Promise.resolve();
  let next: Promise<void> | undefined;
  return () => {
    next ??= running.then(() => {
      next = undefined;
      const flushing = flush(file).catch(fail);
      running = flushing.catch(() => undefined);
      return flushing;
    });
    return next;
  };
}

function openLog(path: string): number {
  try {
    return openSync(path, 'r');
  } catch (error) {
    return fail(error);
  }
}

function fail(error: unknown): never {
  throw storageError(error);
}

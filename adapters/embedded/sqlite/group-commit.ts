import type { DatabaseSync } from 'node:sqlite';
import { transaction, withoutFlush, withStorageErrors, storageError } from './transaction.ts';
import { closeSync, fdatasync, openSync } from 'node:fs';
import { promisify } from 'node:util';

/**
 * Runs `work` in a transaction and resolves when it is on disk; with `flush: false` when it is written, which a power
 * loss can take back. Others read what it has written before it is on disk, also where the disk then fails. Rejects
 * with errors of `work`, and SQLite's errors mapped by `storageError`.
 */
export type GroupCommit = <Result>(work: () => Result, options?: { flush: boolean }) => Promise<Result>;

type Waiting = {
  flush: boolean;
  /** Runs the work and returns the step that settles it after the commit. */
  run: () => () => void;
  reject: (error: unknown) => void;
};

const groups = new WeakMap<DatabaseSync, GroupCommit>();

/** Returns the group commit of a database, which all of its stores share. */
export function groupCommits(database: DatabaseSync): GroupCommit {
  const commit = groups.get(database) ?? createGroupCommit(database, openLogFlush(database));
  groups.set(database, commit);
  return commit;
}

/**
 * Creates a group commit: work that is handed in during one turn of the event loop shares one transaction, and so one
 * wait for the disk, which does not hold up the event loop. Jobs that share a capture commit together. Each work has a
 * savepoint: its failure takes back its own changes only.
 */
export function createGroupCommit(database: DatabaseSync, flushLog: () => Promise<void>): GroupCommit {
  let waiting: Waiting[] = [];
  const commit: GroupCommit = async (work, { flush: flushes } = { flush: true }) =>
    new Promise((resolve, reject) => {
      waiting.push({
        flush: flushes,
        run: () => {
          const result = work();
          return () => resolve(result);
        },
        reject,
      });
      // Runs when everything has been handled that the event loop has at hand: files that are complete, timers that are
      // due.
      if (waiting.length === 1) setImmediate(() => void commitGroup());
    });
  return commit;

  async function commitGroup(): Promise<void> {
    const group = waiting;
    waiting = [];
    try {
      const settles = withoutFlush(database, () => transaction(database, () => runAll(database, group)));
      if (group.some(({ flush }) => flush)) await flushLog();
      for (const settle of settles) settle();
    } catch (error) {
      for (const { reject } of group) reject(error);
    }
  }
}

function runAll(database: DatabaseSync, group: readonly Waiting[]): (() => void)[] {
  const [only] = group;
  if (only !== undefined && group.length === 1) return [only.run()];
  return group.map(({ run, reject }) => {
    database.exec('SAVEPOINT work');
    try {
      return withStorageErrors(run);
    } catch (error) {
      // SQLite takes back the whole transaction if the disk is full.
      if (!database.isTransaction) throw error;
      database.exec('ROLLBACK TO work');
      return () => reject(error);
    } finally {
      if (database.isTransaction) database.exec('RELEASE work');
    }
  });
}

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

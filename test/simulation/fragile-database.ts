import type { DatabaseSync, StatementSync } from 'node:sqlite';

/** Faults of the storage of one process. */
export type Faults = {
  /** Throws if the process was killed; no statement has an effect then. */
  requireAlive(): void;
  /**
   * Called before and after each statement that writes, and each commit. Throws to kill the process, or for a full
   * disk.
   */
  beforeWrite(sql: string): void;
  afterWrite(sql: string): void;
};

const writes = /^\s*(?:INSERT|UPDATE|DELETE|COMMIT)/i;

/** Returns the database with faults between any two writes. */
export function withFaults(database: DatabaseSync, faults: Faults): DatabaseSync {
  const fragile = {
    get isTransaction() {
      return database.isTransaction;
    },
    exec(sql: string) {
      if (/^\s*ROLLBACK/i.test(sql)) return database.exec(sql);
      return perform(sql, () => database.exec(sql));
    },
    prepare(sql: string) {
      const statement = database.prepare(sql);
      type Parameters = Parameters_<StatementSync['run']>;
      return {
        run: (...values: Parameters) => perform(sql, () => statement.run(...values)),
        get: (...values: Parameters) => perform(sql, () => statement.get(...values)),
        all: (...values: Parameters) => perform(sql, () => statement.all(...values)),
      };
    },
    close: () => undefined,
    // Nothing waits for the disk, as of a database in memory: virtual time has no power loss.
    location: () => null,
  };
  // The adapters use these members only.
  return fragile as unknown as DatabaseSync;

  function perform<Result>(sql: string, work: () => Result): Result {
    faults.requireAlive();
    if (!writes.test(sql)) return work();
    faults.beforeWrite(sql);
    const result = work();
    faults.afterWrite(sql);
    return result;
  }
}

type Parameters_<F extends (...values: never[]) => unknown> = F extends (...values: infer P) => unknown
  ? P
  : never;

/** The error of SQLite without space. */
export function fullDiskError(): Error {
  return Object.assign(new Error('database or disk is full'), { code: 'ERR_SQLITE_ERROR', errcode: 13 });
}

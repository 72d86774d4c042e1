import type { DatabaseSync } from 'node:sqlite';
import { setImmediate } from 'node:timers/promises';
import { withStorageErrors } from './transaction.ts';

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

import type { DatabaseSync } from 'node:sqlite';
import { z } from 'zod';
import { countersSchema, zeroCounters } from '../../../core/records/job.ts';
import type { Totals } from '../../../core/ports/run-store.ts';

/** Creates the table of totals, one row per counter, so that a new counter needs no migration. */
export function createTotalsTable(database: DatabaseSync) {
  const add = database.prepare(
    'INSERT INTO totals VALUES (?, ?) ON CONFLICT (counter) DO UPDATE SET value = value + excluded.value',
  );
  const all = database.prepare('SELECT counter, value FROM totals');
  return {
    add: (totals: Totals) => {
      for (const [counter, value] of Object.entries(totals)) add.run(counter, value);
    },
    read: (): Totals => {
      const stored = rowsSchema.parse(all.all()).map(({ counter, value }) => [counter, value]);
      return totalsSchema.parse({ ...nothing, ...Object.fromEntries(stored) });
    },
  };
}

const rowsSchema = z.array(z.object({ counter: z.string(), value: z.int() }));

const totalsSchema = countersSchema.extend({
  jobs_completed: z.int().nonnegative(),
  jobs_stopped: z.int().nonnegative(),
  jobs_failed: z.int().nonnegative(),
});

const nothing: Totals = { jobs_completed: 0, jobs_stopped: 0, jobs_failed: 0, ...zeroCounters };

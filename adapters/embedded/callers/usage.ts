import type { DatabaseSync } from 'node:sqlite';
import { z } from 'zod';
import {
  useRetentionDays,
  type UsageLedger,
  type Meter,
  type MeterReading,
} from '../../../core/ports/usage.ts';
import { amountsOfUse, callerUseSchema } from '../../../core/records/caller.ts';
import { groupCommits } from '../sqlite/group-commit.ts';
import {
  addIncrements,
  toIncrements,
  toReading,
  type MeterCounts,
} from '../../../core/observability/meter-counts.ts';

/**
 * Creates the ledger of the use of callers. A count is committed with the check that follows it, so `add` does not
 * wait, and calls `report` if it fails. A power loss can take back the newest counts. `days` throws `TransientError`
 * for disk faults.
 */
export function createUsageLedger(
  database: DatabaseSync,
  report: (error: unknown) => void = () => undefined,
): UsageLedger {
  const columns = amountsOfUse.join(', ');
  const add = database.prepare(`
    INSERT INTO caller_use (caller, day, ${columns})
    SELECT caller, ?, ${amountsOfUse.map(() => '?').join(', ')} FROM callers WHERE caller = ?
    ON CONFLICT (caller, day) DO UPDATE SET ${amountsOfUse.map((name) => `${name} = ${name} + excluded.${name}`).join(', ')}
  `);
  const expire = database.prepare('DELETE FROM caller_use WHERE caller = ? AND day < ?');
  const days = database.prepare(
    `SELECT day, ${columns} FROM caller_use WHERE caller = ? AND day BETWEEN ? AND ? ORDER BY day`,
  );
  const commitInGroup = groupCommits(database);
  return {
    add: async (caller, day, use) => {
      const work = () => {
        add.run(day, ...amountsOfUse.map((name) => use[name]), caller);
        expire.run(caller, oldestDay(day));
      };
      commitInGroup(work, { flush: false }).catch(report);
    },
    // After the counts that were added before.
    days: async (caller, from, to) =>
      commitInGroup(
        () => rowsSchema.parse(days.all(caller, from, to)).map(({ day, ...use }) => ({ day, use })),
        { flush: false },
      ),
  };
}

const rowsSchema = z.array(callerUseSchema.extend({ day: z.string() }));

function oldestDay(day: string): string {
  return new Date(Date.parse(day) - useRetentionDays * 86_400_000).toISOString().slice(0, 10);
}

/** Creates counters in memory that restart with the process (I-2.10.1). */
export function createMeter(since: Pick<MeterReading, 'startedAt' | 'jobsBefore'>): Meter {
  const counts: MeterCounts = new Map();
  return {
    count: async (counted) => addIncrements(counts, toIncrements(counted)),
    read: async () => ({ ...since, ...toReading(counts) }),
  };
}

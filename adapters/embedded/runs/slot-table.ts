import type { DatabaseSync } from 'node:sqlite';
import { readCount } from '../sqlite/record.ts';

/** Creates the table of slots: a set of job ids per caller, so that taking or freeing a slot twice changes nothing. */
export function createSlotTable(database: DatabaseSync) {
  const take = database.prepare('INSERT OR IGNORE INTO slots VALUES (?, ?)');
  const free = database.prepare('DELETE FROM slots WHERE caller = ? AND job_id = ?');
  const count = database.prepare('SELECT count(*) AS count FROM slots WHERE caller = ?');
  return {
    take: (caller: string, jobId: string) => void take.run(caller, jobId),
    free: (caller: string, jobId: string) => void free.run(caller, jobId),
    count: (caller: string) => readCount(count.get(caller)),
  };
}

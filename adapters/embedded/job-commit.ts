import type { JobChange } from '../../core/ports/job-store.ts';
import { applyJobChange } from '../../core/records/job.ts';
import type { JobTables } from './job-tables.ts';

/** Commits a change of job, events, slot and totals. The caller holds the transaction. */
export function commitChange(tables: JobTables, change: JobChange): 'committed' | 'outdated' {
  const job = tables.jobs.find(change.runId);
  if (job === undefined) return 'outdated';
  if (job.version !== change.expectedVersion) return 'outdated';
  tables.jobs.update(applyJobChange(job, change));
  for (const event of change.events) tables.events.insert(event);
  if (change.releasesSlotOf !== undefined) tables.slots.free(change.releasesSlotOf, change.runId);
  if (change.totalsDelta !== undefined) tables.totals.add(change.totalsDelta);
  return 'committed';
}

import type { RunChange } from '../../../core/ports/runs.ts';
import {
  applyRunChange,
  eventExpiry,
  newestDelivered,
  retentionDays,
} from '../../../core/event/stored-run.ts';
import type { Run, RunEvent } from '../../../core/records/run.ts';
import type { AlertChange } from '../../../core/records/watch-state.ts';
import { changeAlert, sumByHour } from '../../../core/watch/stored-watch.ts';
import type { RunTables } from './run-tables.ts';

/** Stores a new run with its first events. The caller holds the transaction. */
export function insertRun(tables: RunTables, run: Run, events: readonly RunEvent[]): void {
  tables.runs.insert(run, newestDelivered(events, 0));
  for (const event of events) insertEvent(tables, event, run);
}

/** Commits a change of a run with all that belongs to it. The caller holds the transaction. */
export function commitChange(tables: RunTables, change: RunChange): 'committed' | 'outdated' {
  const {
    runId,
    events,
    meta,
    source,
    secrets,
    alerts = [],
    moments = [],
    hours,
    releasesSlotOf,
    totalsDelta,
  } = change;
  const stored = tables.runs.find(runId);
  if (stored?.run.version !== change.expectedVersion) return 'outdated';
  const after = applyRunChange(stored.run, change);
  tables.runs.update(after, newestDelivered(events, stored.unpublished), meta !== undefined);
  for (const event of events) insertEvent(tables, event, after);
  if (source) tables.sources.put(source);
  if (secrets) tables.secrets.put(secrets);
  for (const alert of alerts) commitAlert(tables, alert);
  for (const moment of moments) tables.moments.add(moment);
  for (const addition of sumByHour(hours)) tables.hours.add(runId, addition);
  if (releasesSlotOf !== undefined) tables.slots.free(releasesSlotOf, runId);
  if (totalsDelta) tables.totals.add(totalsDelta);
  // It contains credentials. An ended job keeps its own for as long as it can be run again.
  if (after.policy === 'watch' && after.deleted_at !== null) tables.sources.remove(after.source_id);
  return 'committed';
}

function insertEvent({ events }: RunTables, event: RunEvent, run: Run): void {
  events.insert(event, run.policy === 'watch' ? run.caller : null, eventExpiry(event, retentionDays(run)));
}

/** A change of an alert that has expired has no effect. */
function commitAlert({ alerts }: RunTables, change: AlertChange): void {
  if (change.kind === 'open') return alerts.put(change.alert);
  const alert = alerts.find(change.alertId, new Date(0));
  if (alert !== undefined) alerts.put(changeAlert(alert, change));
}

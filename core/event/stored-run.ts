import { isTerminal, jobStatusSchema } from '../records/job.ts';
import type { Run, RunEvent } from '../records/run.ts';
import { watchSchema, type Watch } from '../records/watch.ts';
import { addSeconds } from '../time.ts';
import { progressRetentionSeconds, type RunChange } from '../ports/runs.ts';

/** Rules that the stores of both hosts apply to runs of all policies. */

/** Fields that a creation and changes by callers write. All others are written by each commit. */
const metaFields: ReadonlySet<string> = new Set([
  ...watchSchema.keyof().options,
  'webhook_url',
  'webhook_events',
  'labels',
  'model_grace_seconds',
  'notices',
]);

/**
 * Divides a run into two records, so that a tick does not write its configuration. `published` is in neither: it
 * changes apart from both.
 */
export function splitRun(run: Run): { meta: object; progress: object } {
  const fields = Object.entries(run).filter(([name]) => name !== 'published');
  return {
    meta: Object.fromEntries(fields.filter(([name]) => metaFields.has(name))),
    progress: Object.fromEntries(fields.filter(([name]) => !metaFields.has(name))),
  };
}

/** Returns the run after a commit. */
export function applyRunChange<Stored extends Run>(
  run: Stored,
  { set, meta }: Pick<RunChange, 'set' | 'meta'>,
): Stored {
  return { ...run, ...meta, ...set, version: run.version + 1 };
}

const terminalStatuses: ReadonlySet<string> = new Set(jobStatusSchema.options.filter(isTerminal));

type RunEnd = {
  status: string;
  expires_at?: string | null | undefined;
  deleted_at?: string | null | undefined;
};

/** Returns true if the job has ended, or the watch is deleted. */
export function hasEnded({ status, deleted_at: deletedAt = null }: RunEnd): boolean {
  return terminalStatuses.has(status) || deletedAt !== null;
}

/** Returns true if no execution of the run is expected to commit: it has ended, or is paused. */
export function isIdle(run: RunEnd): boolean {
  return run.status === 'paused' || hasEnded(run);
}

/** Returns the time from which reads omit the run: the expiry of a job, the deletion of a watch. */
export function goneAt({ expires_at: expiresAt, deleted_at: deletedAt }: RunEnd): string | null {
  return expiresAt ?? deletedAt ?? null;
}

/** Returns true if reads omit the run at `now`. A deletion does not wait for a clock that was set back. */
export function isGone(run: Run, now: Date): boolean {
  const endsAt = goneAt(run);
  return endsAt !== null && (run.policy === 'watch' || Date.parse(endsAt) <= now.getTime());
}

/** Returns true if a purge removes the run: it is a deleted watch. A job is removed by its expiry. */
export function isPurgeable(run: Run): boolean {
  return run.policy === 'watch' && run.deleted_at !== null;
}

/** Returns true if events of the watch are delivered, or cause a clip. */
export function hasDestinations({ config }: Watch): boolean {
  return config.destinations.length > 0 || config.evidence_clip !== null;
}

/** Returns true if events of the run are delivered: to the webhook of a job, or the destinations of a watch. */
export function hasReceivers(run: Run): boolean {
  return run.policy === 'watch' ? hasDestinations(run) : run.webhook_url !== null;
}

/** Returns the sequence of the newest event that receivers get, or `before` without such an event. */
export function newestDelivered(events: readonly RunEvent[], before: number): number {
  return events.findLast(({ type }) => type !== 'progress')?.sequence ?? before;
}

/** Returns the expiry of an event in the log of a watch. The log of a job (`null`) is removed with the job. */
export function eventExpiry({ type, timestamp }: RunEvent, retentionDays: number | null): Date | null {
  if (retentionDays === null) return null;
  const seconds = type === 'progress' ? progressRetentionSeconds : retentionDays * 86_400;
  return addSeconds(new Date(timestamp), seconds);
}

/** Returns the days for which a run keeps its events; `null` for those of a job. */
export function retentionDays(run: Run): number | null {
  return run.policy === 'watch' ? run.config.retention_days : null;
}

import type { LogEntry, Metrics } from '../api/types.ts';

/** Log entry without its job prefix. */
export type LogLine = LogEntry & {
  /** First 8 characters of the id of the job or watch; `null` if the entry concerns none. */
  job: string | null;
  text: string;
};

const jobPrefix = /^\[(?:JOB|WATCH):([0-9a-f]{8})\]\s*/;

/** Splits the job prefix from each message and returns the newest entry first. `job` filters by job id prefix. */
export function logLines(entries: LogEntry[], job: string): LogLine[] {
  const wanted = job.trim().toLowerCase().slice(0, 8);
  return entries
    .toReversed()
    .map((entry) => {
      const prefix = jobPrefix.exec(entry.message);
      return { ...entry, job: prefix?.[1] ?? null, text: entry.message.replace(jobPrefix, '') };
    })
    .filter((line) => wanted === '' || line.job?.startsWith(wanted) === true);
}

/** Returns the share of captures that the pre-filter skipped, 0 to 1; `null` before the first capture. */
export function savings({ captured, skipped_prefilter: skipped }: Metrics['frames']): number | null {
  const all = captured + skipped;
  return all === 0 ? null : skipped / all;
}

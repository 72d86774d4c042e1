import type { LogEntry } from '../api/types.ts';

export type LogLine = LogEntry & {
  /** First characters of the id of the job that it is about. */
  job: string | null;
  text: string;
};

const jobPrefix = /^\[JOB:([0-9a-f]{8})\]\s*/;

/** Entries newest first, with the job out of the message; `job` filters by the beginning of a job's id. */
export function logLines(entries: LogEntry[], job: string): LogLine[] {
  const wanted = job.trim().toLowerCase().slice(0, 8);
  return entries
    .toReversed()
    .map((entry) => {
      const found = jobPrefix.exec(entry.message);
      return { ...entry, job: found?.[1] ?? null, text: entry.message.replace(jobPrefix, '') };
    })
    .filter((line) => wanted === '' || line.job?.startsWith(wanted) === true);
}

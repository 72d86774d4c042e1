import { CloudWatchLogsClient, FilterLogEventsCommand } from '@aws-sdk/client-cloudwatch-logs';
import { z } from 'zod';
import type { LogEntry, RecentLog } from '../../core/ports/observability.ts';
import { redact } from '../../core/observability/redact.ts';
import { withFields } from '../log-message.ts';
import { throwCoreError } from './aws-error.ts';
import { clientSettings } from './client-settings.ts';
import { parseJson } from '../../core/parse-json.ts';

/** CloudWatch Logs client (default: one of its own) and the log group of all functions. */
export type RecentLogOptions = { client?: CloudWatchLogsClient; logGroup: string; now: () => Date };

/** Maximum entries (I-4.10.3). */
const capacity = 500;
/** Maximum pages. An account may send 10 requests per second, and an empty page was still searched. */
const maxPages = 12;
const pageEvents = 2000;
const daysBack = 7;

/**
 * Reads the newest entries of all functions from their log group, from its end (`startFromHead: false`, which
 * requires a start time) and past empty pages. Omits metrics and Lambda's own lines.
 */
export function createRecentLog({
  client = new CloudWatchLogsClient(clientSettings),
  logGroup,
  now,
}: RecentLogOptions): RecentLog {
  return {
    entries: async () => {
      const entries: (LogEntry & { atMs: number })[] = [];
      let nextToken: string | undefined;
      for (let page = 0; page < maxPages; page += 1) {
        const answer = await client
          .send(
            new FilterLogEventsCommand({
              logGroupName: logGroup,
              startTime: now().getTime() - daysBack * 86_400_000,
              startFromHead: false,
              limit: pageEvents,
              ...(nextToken !== undefined && { nextToken }),
            }),
          )
          .catch(throwCoreError);
        for (const { message = '', timestamp = 0 } of answer.events ?? []) {
          const entry = readEntry(message);
          if (entry) entries.push({ ...entry, atMs: Date.parse(entry.time) || timestamp });
        }
        nextToken = answer.nextToken;
        if (nextToken === undefined || entries.length >= capacity) break;
      }
      return newest(entries).map(({ time, level, message }) => ({ time, level, message }));
    },
  };
}

/** Merges the log streams of several instances by time. Keeps the order of entries with equal times. */
function newest<Entry extends { atMs: number }>(newestFirst: Entry[]): Entry[] {
  return newestFirst
    .toReversed()
    .toSorted((one, other) => one.atMs - other.atMs)
    .slice(-capacity);
}

const lineSchema = z.object({
  timestamp: z.iso.datetime(),
  level: z.enum(['DEBUG', 'INFO', 'WARN', 'WARNING', 'ERROR', 'CRITICAL']),
  message: z.string(),
  fields: z.record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.null()])).optional(),
});

const levels = {
  DEBUG: 'DEBUG',
  INFO: 'INFO',
  WARN: 'WARNING',
  WARNING: 'WARNING',
  ERROR: 'ERROR',
  CRITICAL: 'ERROR',
} as const;

/**
 * Parses a log line. Returns undefined for other formats. Redacts it again: entries of earlier releases are kept for
 * weeks.
 */
function readEntry(line: string): LogEntry | undefined {
  if (!line.startsWith('{')) return undefined;
  const read = lineSchema.safeParse(parseJson(line));
  if (!read.success) return undefined;
  const { timestamp, level, message, fields } = read.data;
  return { time: timestamp, level: levels[level], message: redact(withFields(message, fields)) };
}

import { z } from 'zod';
import { apiNames } from '../api-names.ts';
import { inputModeSchema } from '../records/capture.ts';
import { watchEventTypeSchema } from '../records/watch-event.ts';
import { watchStatusSchema } from '../records/watch-state.ts';
import { eventsQuerySchema } from './jobs.ts';
import { flag, integer, jobId, text } from './fields.ts';

export const watchPathSchema = z.object({ watch_id: jobId });
export const alertPathSchema = z.object({ alert_id: jobId });

export const watchListQuerySchema = z.object({
  status: watchStatusSchema.optional(),
  label: text(1, 64).optional().describe('Only watches with this label'),
  limit: integer(z.int().min(1).max(100)).default(50),
  offset: integer(z.int().min(0)).default(0),
});

export const createWatchQuerySchema = z.object({
  destinations_of: jobId
    .optional()
    .describe(
      'Own watch whose destinations this one gets, with their stored addresses, if the body has none',
    ),
});

export const instant = z.iso
  .datetime({ offset: true })
  .transform((value) => new Date(value))
  .optional();

export const alertListQuerySchema = z.object({
  watch_id: jobId.optional(),
  condition_id: text(1, 40).optional(),
  state: z.enum(['open', 'closed']).optional(),
  from: instant.describe('Open at this time or later'),
  to: instant.describe('Opened before this time'),
  after: z
    .string()
    .refine((value) => alertPosition.test(value), 'after must be the next_after of a page')
    .optional()
    .describe('next_after of the previous page'),
  limit: integer(z.int().min(1).max(100)).default(50),
});

const alertPosition = /^(\d{4}-\d\d-\d\dT[\d:.]+Z)\.([0-9a-f-]{36})$/;

/** Parses the `after` of a page of alerts. Returns undefined if it is absent or malformed. */
export function readAlertPosition(after: string | undefined) {
  const [, openedAt, alertId] = alertPosition.exec(after ?? '') ?? [];
  return openedAt === undefined || alertId === undefined
    ? undefined
    : { opened_at: openedAt, alert_id: alertId };
}

export const watchStatsQuerySchema = z.object({
  from: instant.describe('Start; default: seven days before `to`'),
  to: instant.describe('End; default: now. At most 92 days after `from`'),
  spans: flag.default(false).describe('True to list the spans of the newest 24 hours, each with its class'),
});

export const previewQuerySchema = z.object({
  input_mode: inputModeSchema.optional().describe('Default: that of the watch'),
});

export const snoozeRequestSchema = z.object({
  seconds: integer(z.int().min(0).max(604_800)).describe('0 ends the snooze'),
  condition_id: text(1, 40).optional().describe('Absent: all conditions'),
});
apiNames.add(snoozeRequestSchema, { id: 'SnoozeRequest' });

export const reviewRequestSchema = z.object({
  correct: flag.describe('True if the alert was right'),
  note: text(0, 500).default(''),
});
apiNames.add(reviewRequestSchema, { id: 'ReviewRequest' });

export const alertFrameQuerySchema = z.object({
  moment: z.enum(['opened', 'closed']).default('opened').describe('Frame of the opening or of the closing'),
  boxes: flag.default(false).describe('Draw the boxes of the opening on a copy'),
});

/** A number on one machine, positions in all logs on AWS; empty without watches. */
const allPositions = /^(?:\d{1,15}|v[\w-]{0,7999})?$/;

const eventTypes = z
  .string()
  .transform((value) => value.split(',').map((type) => type.trim()))
  .pipe(z.array(watchEventTypeSchema).min(1))
  .optional()
  .meta({ type: 'string' })
  .describe('Types of the events, separated by commas; absent: all. A page can then have fewer than `limit`');

export const watchEventsQuerySchema = eventsQuerySchema.extend({ types: eventTypes });

export const allWatchEventsQuerySchema = z.object({
  after: z
    .string()
    .refine((value) => allPositions.test(value), 'after must be the next_after of a page')
    .optional()
    .describe('next_after of the previous page; absent: all events that are kept'),
  limit: integer(z.int().min(1).max(1000)).default(200),
  types: eventTypes,
});

import { z } from 'zod';
import { alarmSchema } from '../ports/alarms.ts';
import { logLevelSchema } from '../ports/log.ts';
import { count, timestamp } from './fields.ts';

/** Answers for operators (interface sections 2.10 and 2.11). */

export const metricsResponseSchema = z.object({
  started_at: timestamp.describe('Since when the counters count'),
  providers: z
    .record(z.string(), z.object({ calls: count, errors: count }))
    .describe('Calls of the vision model, by provider'),
  jobs: z.object({ created: count, completed: count, failed: count }),
  frames: z.object({
    captured: count.describe('Captures shown to the model'),
    skipped_prefilter: count.describe('Captures that the pre-filter kept from the model'),
  }),
  webhooks: z.object({ sent: count, failed: count }),
});

export const alarmsResponseSchema = z.object({
  alarms: z
    .array(alarmSchema)
    .nullable()
    .describe('null where nothing watches the service from outside: on one machine'),
});

export const logsResponseSchema = z.object({
  total_in_buffer: count,
  returned: count,
  logs: z.array(
    z.object({
      time: timestamp,
      level: logLevelSchema,
      message: z
        .string()
        .describe('With the prefix [JOB:<first 8 characters of the job id>] where it concerns a job'),
    }),
  ),
});

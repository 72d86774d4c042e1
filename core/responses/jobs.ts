import { z } from 'zod';
import {
  countersSchema,
  failureSchema,
  gapSchema,
  jobStatusSchema,
  jobTypeSchema,
  stopReasonSchema,
} from '../records/job.ts';
import { summaryGeneratedSchema, watchTriggeredSchema } from './events.ts';
import { jobConfigSchema, jobDetailsSchema } from './job-config.ts';
import { count, jobId, sequence, sourceUrl, timestamp } from './fields.ts';

/** Answers about jobs (interface sections 2.1 to 2.4). */

const head = {
  job_id: jobId,
  status: jobStatusSchema,
  created_at: timestamp,
  stream_url: sourceUrl,
  job_type: jobTypeSchema,
};

/** Interface section 2.2: the answer to a creation, and an item of the list. */
export const jobSummarySchema = z.object({
  ...head,
  details: jobDetailsSchema,
  message: z.string().optional().describe('What to do next; in the answer to a creation'),
});

/** Interface section 2.3. */
export const jobListResponseSchema = z.object({
  jobs: z.array(jobSummarySchema).describe('Newest first'),
  total: count.describe('How many jobs match, on all pages'),
  limit: z.int(),
  offset: z.int(),
});

const coverageSchema = z
  .object({
    ratio: z.number().min(0).max(1),
    watched_seconds: z.number(),
    gap_seconds: z.number(),
    gaps: z.array(gapSchema).describe('The newest 20'),
  })
  .describe('How much of the time was watched');

const statsFields = {
  reason: stopReasonSchema.optional().describe('Why the job ended; absent while it is active'),
  error: failureSchema.optional().describe('Of a failed job'),
  auto_stopped: z.boolean().describe('True for max_duration_reached: start a new job to keep watching'),
  ...countersSchema.shape,
  windows_summarized: count.optional().describe('Windows that have their summary, of a digest'),
  last_check: count.describe('The number of the newest check'),
  watch_duration_seconds: z.number().nonnegative(),
  started_at: timestamp.nullable(),
  ended_at: timestamp.nullable(),
  next_check_at: timestamp.nullable(),
  last_frame_at: timestamp.nullable().describe('When the newest picture was taken: GET /jobs/{job_id}/frame'),
  coverage: coverageSchema,
};

/** The numbers of a job at its end. */
export const finalStatsSchema = z.object(statsFields);

const webhookStatsSchema = z
  .object({
    delivered: count,
    pending: count,
    failed: count,
    failures: z
      .array(
        z.object({
          sequence,
          type: z.string(),
          attempts: count,
          message: z.literal('Failed to deliver webhook'),
          error: z.string().nullable(),
        }),
      )
      .describe('The newest 10'),
  })
  .describe('Deliveries, for a job with webhook_url');

export const jobStatsSchema = z.object({
  ...statsFields,
  triggers: z.array(watchTriggeredSchema).optional().describe('The newest 50 alerts, of a monitor'),
  summaries: z.array(summaryGeneratedSchema).optional().describe('The newest 50 summaries, of a digest'),
  webhook: webhookStatsSchema.optional(),
});

/** Interface section 2.1. */
export const jobDetailSchema = z.object({ ...head, config: jobConfigSchema, stats: jobStatsSchema });

/** Interface section 2.4. */
export const cancelResponseSchema = z.object({
  job_id: jobId,
  status: jobStatusSchema,
  message: z.string(),
  final_stats: finalStatsSchema,
});

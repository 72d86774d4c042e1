import { z } from 'zod';
import { apiNames, toPascal } from '../api-names.ts';
import { webhookEventTypeSchema } from '../records/delivery.ts';
import { jobRecords, policyLists, policyNumbers } from '../policies/records.ts';
import { stopReasonSchema } from '../records/stop-reason.ts';
import { failureSchema } from '../records/failure.ts';
import { countersSchema, jobStatusSchema } from '../records/job.ts';
import { jobTypeSchema } from '../records/job-type.ts';
import { gapSchema } from '../records/sight.ts';
import { count, jobId, sequence, sourceUrl, timestamp } from './fields.ts';

const visible = {
  webhook_url: z.string().optional().describe('Webhook URL with masked password'),
  webhook_events: z
    .array(webhookEventTypeSchema)
    .optional()
    .describe('Types of events that the webhook receives; absent: all'),
  labels: z.array(z.string()).optional().describe('Labels of the job; absent without any'),
};

const delivered = z.object({
  delivery: z.enum(['polling', 'webhook']).describe('Delivery mode of events'),
  reason: stopReasonSchema.nullable().describe("Reason of the job's end; null for an active job"),
});

/**
 * Configuration of the jobs of each policy, after defaults and clamping; `details` in lists and creation responses,
 * which have no stats.
 */
export const configSchemas = Object.values(jobRecords).map(({ fields }) => {
  const config = z.object({ ...fields.config.shape, ...visible });
  return { policy: fields.policy.value, config, details: config.and(delivered) };
});
for (const { policy, config, details } of configSchemas) {
  apiNames.add(config, { id: `${toPascal(policy)}Config` });
  apiNames.add(details, { id: `${toPascal(policy)}Details` });
}
export const jobConfigSchema = z.union(configSchemas.map(({ config }) => config));
apiNames.add(jobConfigSchema, { id: 'JobConfig' });
const jobDetailsSchema = z.union(configSchemas.map(({ details }) => details));
apiNames.add(jobDetailsSchema, { id: 'JobDetails' });

/** Differences between the request and the job. */
export const noticesSchema = z
  .array(z.string())
  .describe(
    'Differences between the request and the job: limits, ignored fields, conditions that fit no check',
  );

const head = {
  job_id: jobId,
  status: jobStatusSchema,
  created_at: timestamp,
  stream_url: sourceUrl,
  job_type: jobTypeSchema,
};

export const jobSummarySchema = z.object({
  ...head,
  details: jobDetailsSchema,
  message: z.string().optional().describe('Next step, then the notices; only in a creation response'),
});
apiNames.add(jobSummarySchema, { id: 'JobSummary' });

export const jobListResponseSchema = z.object({
  jobs: z.array(jobSummarySchema).describe('Newest first'),
  total: count.describe('Number of matching jobs on all pages'),
  limit: z.int(),
  offset: z.int(),
});
apiNames.add(jobListResponseSchema, { id: 'JobList' });

const coverageSchema = z.object({
  ratio: z.number().min(0).max(1),
  watched_seconds: z.number(),
  gap_seconds: z.number(),
  gaps: z.array(gapSchema).describe('Newest 20 gaps'),
});
apiNames.add(coverageSchema, { id: 'Coverage' });

export const finalStatsSchema = z.object({
  reason: stopReasonSchema.optional().describe("Reason of the job's end; absent for an active job"),
  error: failureSchema.optional().describe('Failure of the job; absent unless failed'),
  auto_stopped: z.boolean().describe('True for max_duration_reached: start a new job to continue'),
  ...countersSchema.shape,
  ...policyNumbers,
  last_check: count.describe('Number of the newest check'),
  watch_duration_seconds: z.number().nonnegative(),
  started_at: timestamp.nullable(),
  ended_at: timestamp.nullable(),
  next_check_at: timestamp.nullable(),
  last_frame_at: timestamp
    .nullable()
    .describe(
      'Capture time of the newest frame, which GET /jobs/{job_id}/frame returns; null before the first',
    ),
  coverage: coverageSchema.describe('Share of job time observed'),
});
apiNames.add(finalStatsSchema, { id: 'FinalStats' });

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
      .describe('Newest 10 failures'),
  })
  .describe('Deliveries of a job with webhook_url');

export const jobStatsSchema = finalStatsSchema.and(
  z.object({
    notices: noticesSchema,
    ...policyLists,
    webhook: webhookStatsSchema.optional(),
  }),
);
apiNames.add(jobStatsSchema, { id: 'JobStats' });

export const jobDetailSchema = z.object({ ...head, config: jobConfigSchema, stats: jobStatsSchema });
apiNames.add(jobDetailSchema, { id: 'JobDetail' });

export const cancelResponseSchema = z.object({
  job_id: jobId,
  status: jobStatusSchema,
  message: z.string(),
  final_stats: finalStatsSchema,
});
apiNames.add(cancelResponseSchema, { id: 'CancelledJob' });

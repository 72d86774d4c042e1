import { z } from 'zod';
import { apiNames } from '../api-names.ts';
import { pictureStateSchema, streamStateSchema } from '../records/event.ts';
import { policyEvents } from '../policies/records.ts';
import { jobStatusSchema } from '../records/job.ts';
import { jobTypeSchema } from '../records/job-type.ts';
import { stopReasonSchema } from '../records/stop-reason.ts';
import { jobConfigSchema, noticesSchema } from './jobs.ts';
import { errorCodeSchema } from './errors.ts';
import { count, envelope, jobId, timestamp } from './fields.ts';

/**
 * Schemas of events. Webhooks and event streams contain images as base64, pages of the log
 * contain links to images.
 */

export const jobStartedSchema = envelope('job_started', {
  job_type: jobTypeSchema,
  status: jobStatusSchema,
  config: jobConfigSchema,
  notices: noticesSchema.optional(),
  events_url: z.string().describe('Event log of the job, as JSON or as event stream'),
});
apiNames.add(jobStartedSchema, { id: 'JobStarted' });

export const progressSchema = envelope('progress', {
  check: z.int().positive().describe('Number of the check'),
  checks_performed: count,
  frames_skipped: count,
  triggers_fired: count,
  triggered: z.boolean().nullable().describe('Verdict of the model; null without a verdict'),
  judged: z
    .boolean()
    .nullable()
    .optional()
    .describe(
      'False if the model could not judge the condition by this capture, see explanation; null without a verdict',
    ),
  prefilter_skipped: z.boolean().describe('True if the pre-filter skipped the capture'),
  motion: z.number().min(0).max(1).nullable().describe('Share of the frame that changed'),
  explanation: z.string(),
  captured_at: timestamp.nullable(),
  stream: streamStateSchema,
  picture: pictureStateSchema.nullable(),
  next_check_at: timestamp.nullable(),
});
apiNames.add(progressSchema, { id: 'Progress' });

export const errorEventSchema = envelope('error', {
  code: errorCodeSchema,
  message: z.string(),
  remediation: z.string(),
});
apiNames.add(errorEventSchema, { id: 'ErrorEvent' });

export const jobStoppedSchema = envelope('job_stopped', {
  status: jobStatusSchema,
  reason: stopReasonSchema,
  checks_performed: count,
  triggers_fired: count,
  frames_skipped: count,
  auto_stopped: z.boolean().describe('True for max_duration_reached: start a new job to continue'),
  watch_duration_seconds: z.number().nonnegative(),
});
apiNames.add(jobStoppedSchema, { id: 'JobStopped' });

/** Event in a page of the log. */
export const loggedEventSchema = z.discriminatedUnion('type', [
  jobStartedSchema,
  progressSchema,
  ...Object.values(policyEvents).map(({ linked }) => linked),
  errorEventSchema,
  jobStoppedSchema,
]);
apiNames.add(loggedEventSchema, { id: 'LoggedEvent' });

/** Event with images as base64: body of a webhook, or data of an event stream. */
export const streamedEventSchema = z.discriminatedUnion('type', [
  jobStartedSchema,
  progressSchema,
  ...Object.values(policyEvents).map(({ streamed }) => streamed),
  errorEventSchema,
  jobStoppedSchema,
]);
apiNames.add(streamedEventSchema, { id: 'StreamedEvent' });

/** Test event of `POST /webhook-test`, without a job. */
export const testEventSchema = z.object({
  type: z.literal('test'),
  timestamp,
  source_url: z.string().describe('Base URL of the service'),
  data: z.object({ message: z.string() }),
});
apiNames.add(testEventSchema, { id: 'TestEvent' });

/** Response of `GET /jobs/{job_id}/events` as JSON. */
export const eventPageSchema = z.object({
  job_id: jobId,
  status: jobStatusSchema,
  events: z.array(loggedEventSchema).describe('Ordered by sequence'),
  next_after: count.describe('Value of after for the next page'),
  has_more: z.boolean(),
});
apiNames.add(eventPageSchema, { id: 'EventPage' });

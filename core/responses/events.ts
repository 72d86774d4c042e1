import { z } from 'zod';
import { pictureStateSchema, streamStateSchema } from '../records/event.ts';
import { promptVersionSchema } from '../records/vision.ts';
import { gapSchema, jobStatusSchema, stopReasonSchema } from '../records/job.ts';
import { jobConfigSchema, noticesSchema } from './job-config.ts';
import { jobTypeSchema } from '../records/job-type.ts';
import { errorCodeSchema } from './errors.ts';
import { count, jobId, jpegBase64, sequence, sourceUrl, timestamp } from './fields.ts';

const labels = z.array(z.string()).optional().describe('Labels of the job; absent without any');

/**
 * Schemas of events (interface section 6). Webhooks and event streams contain images as base64, pages of the log
 * contain links to images.
 */

export const jobStartedSchema = envelope('job_started', {
  job_type: jobTypeSchema,
  status: jobStatusSchema,
  config: jobConfigSchema,
  notices: noticesSchema.optional(),
  events_url: z.string().describe('Event log of the job, as JSON or as event stream'),
});

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

const share = z.number().min(0).max(1).describe('Share of the width or height of the image');

const alert = {
  condition: z.string(),
  triggered: z.literal(true),
  explanation: z.string(),
  prefilter_skipped: z.boolean(),
  captured_at: timestamp,
  triggers_fired: count,
  boxes: z
    .array(
      z.object({
        label: z.string().describe('Class of the object'),
        score: z.number().min(0).max(1).describe('Rank of the detection; not a probability'),
        x: share,
        y: share,
        width: share,
        height: share,
      }),
    )
    .optional()
    .describe('Objects in the evidence that the condition names, best first; only from the object model'),
  prompt_version: promptVersionSchema.optional(),
};

const frameUrl = z
  .string()
  .describe('URL of the image; requires the API key, available until the job is deleted');

export const watchTriggeredSchema = envelope('watch_triggered', { ...alert, frame_url: frameUrl });
export const watchTriggeredWithPictureSchema = envelope('watch_triggered', {
  ...alert,
  frame_b64: jpegBase64.nullable().describe('Evidence as base64 JPEG; null if it has expired'),
});

const summary = {
  window_index: z.int().positive().describe('Number of the window; starts at 1'),
  window_start: timestamp,
  window_end: timestamp,
  partial: z.boolean().describe('True if the job ended before the window'),
  summary: z.string().describe('Summary of the window'),
  frames_captured: count,
  frames_skipped: count,
  gaps: z.array(gapSchema).describe('Intervals of the window without observation'),
};

export const summaryGeneratedSchema = envelope('summary_generated', {
  ...summary,
  frame_grid_url: frameUrl.optional(),
});
export const summaryGeneratedWithPictureSchema = envelope('summary_generated', {
  ...summary,
  frame_grid_b64: jpegBase64
    .nullable()
    .optional()
    .describe(
      'Frame grid of the samples as base64 JPEG; absent unless include_frames is true, null if it has expired',
    ),
});

export const errorEventSchema = envelope('error', {
  code: errorCodeSchema,
  message: z.string(),
  remediation: z.string(),
});

export const jobStoppedSchema = envelope('job_stopped', {
  status: jobStatusSchema,
  reason: stopReasonSchema,
  checks_performed: count,
  triggers_fired: count,
  frames_skipped: count,
  auto_stopped: z.boolean().describe('True for max_duration_reached: start a new job to continue'),
  watch_duration_seconds: z.number().nonnegative(),
});

/** Event in a page of the log. */
export const loggedEventSchema = z.discriminatedUnion('type', [
  jobStartedSchema,
  progressSchema,
  watchTriggeredSchema,
  summaryGeneratedSchema,
  errorEventSchema,
  jobStoppedSchema,
]);

/** Event with images as base64: body of a webhook, or data of an event stream. */
export const streamedEventSchema = z.discriminatedUnion('type', [
  jobStartedSchema,
  progressSchema,
  watchTriggeredWithPictureSchema,
  summaryGeneratedWithPictureSchema,
  errorEventSchema,
  jobStoppedSchema,
]);

/** Test event of `POST /webhook-test`, without a job. */
export const testEventSchema = z.object({
  type: z.literal('test'),
  timestamp,
  source_url: z.string().describe('Base URL of the service'),
  data: z.object({ message: z.string() }),
});

/** Response of `GET /jobs/{job_id}/events` as JSON. */
export const eventPageSchema = z.object({
  job_id: jobId,
  status: jobStatusSchema,
  events: z.array(loggedEventSchema).describe('Ordered by sequence'),
  next_after: count.describe('Value of after for the next page'),
  has_more: z.boolean(),
});

function envelope<Type extends string, Data extends z.ZodRawShape>(type: Type, data: Data) {
  return z.object({
    type: z.literal(type),
    timestamp,
    source_url: sourceUrl,
    data: z.object({ job_id: jobId, sequence, labels, ...data }),
  });
}

import { z } from 'zod';
import { pictureStateSchema, streamStateSchema } from '../records/event.ts';
import { gapSchema, jobStatusSchema, jobTypeSchema, stopReasonSchema } from '../records/job.ts';
import { jobConfigSchema } from './job-config.ts';
import { errorCodeSchema } from './errors.ts';
import { count, jobId, jpegBase64, sequence, sourceUrl, timestamp } from './fields.ts';

/**
 * Events as callers receive them (interface section 6, design section 9). Webhooks and server-sent events carry pictures as base64,
 * pages of the log link to them.
 */

export const jobStartedSchema = envelope('job_started', {
  job_type: jobTypeSchema,
  status: jobStatusSchema,
  config: jobConfigSchema,
  events_url: z.string().describe('The log of the job, as JSON or as server-sent events'),
});

export const progressSchema = envelope('progress', {
  check: z.int().positive().describe('The number of this check'),
  checks_performed: count,
  frames_skipped: count,
  triggers_fired: count,
  triggered: z.boolean().nullable().describe('null where the model gave no verdict'),
  prefilter_skipped: z.boolean().describe('True where nothing moved and the model was not asked'),
  motion: z.number().min(0).max(1).nullable().describe('Share of the picture that changed'),
  explanation: z.string(),
  captured_at: timestamp.nullable(),
  stream: streamStateSchema,
  picture: pictureStateSchema.nullable(),
  next_check_at: timestamp.nullable(),
});

const alert = {
  condition: z.string(),
  triggered: z.literal(true),
  explanation: z.string(),
  prefilter_skipped: z.boolean(),
  captured_at: timestamp,
  triggers_fired: count,
};

const frameUrl = z.string().describe('The evidence picture: GET it with your key, while the job is kept');

export const watchTriggeredSchema = envelope('watch_triggered', { ...alert, frame_url: frameUrl });
export const watchTriggeredWithPictureSchema = envelope('watch_triggered', {
  ...alert,
  frame_b64: jpegBase64
    .nullable()
    .describe('The evidence picture as base64 JPEG; null where it is no longer kept'),
});

const summary = {
  window_index: z.int().positive().describe('From 1 on'),
  window_start: timestamp,
  window_end: timestamp,
  partial: z.boolean().describe('True where the job ended before the window did'),
  summary: z.string().describe('What happened in the window'),
  frames_captured: count,
  frames_skipped: count,
  gaps: z.array(gapSchema).describe('When the stream was not seen'),
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
    .describe('The pictures of the window side by side, as base64 JPEG; where include_frames asked for it'),
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
  auto_stopped: z.boolean().describe('True for max_duration_reached: start a new job to keep watching'),
  watch_duration_seconds: z.number().nonnegative(),
});

/** An event in a page of the log. */
export const loggedEventSchema = z.discriminatedUnion('type', [
  jobStartedSchema,
  progressSchema,
  watchTriggeredSchema,
  summaryGeneratedSchema,
  errorEventSchema,
  jobStoppedSchema,
]);

/** An event with its pictures: the `data:` of a server-sent event. */
export const streamedEventSchema = z.discriminatedUnion('type', [
  jobStartedSchema,
  progressSchema,
  watchTriggeredWithPictureSchema,
  summaryGeneratedWithPictureSchema,
  errorEventSchema,
  jobStoppedSchema,
]);

/** `POST /webhook-test`: belongs to no job. */
export const testEventSchema = z.object({
  type: z.literal('test'),
  timestamp,
  source_url: z.string().describe('The base URL of this service'),
  data: z.object({ message: z.string() }),
});

/** `GET /jobs/{job_id}/events` as JSON. */
export const eventPageSchema = z.object({
  job_id: jobId,
  status: jobStatusSchema,
  events: z.array(loggedEventSchema).describe('In order'),
  next_after: count.describe('Send it as after to read on'),
  has_more: z.boolean(),
});

function envelope<Type extends string, Data extends z.ZodRawShape>(type: Type, data: Data) {
  return z.object({
    type: z.literal(type),
    timestamp,
    source_url: sourceUrl,
    data: z.object({ job_id: jobId, sequence, ...data }),
  });
}

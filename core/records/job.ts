import { z } from 'zod';
import { inputModeSchema } from './capture.ts';
import { digestStateSchema } from './digest-state.ts';
import { captureStateSchema } from './workflow.ts';

const timestampSchema = z.iso.datetime();
const countSchema = z.int().nonnegative();

export const jobStatusSchema = z.enum(['pending', 'running', 'stopped', 'completed', 'failed']);
export type JobStatus = z.infer<typeof jobStatusSchema>;

export const jobTypeSchema = z.enum(['live-monitor', 'live-digest']);
export type JobType = z.infer<typeof jobTypeSchema>;

export const stopReasonSchema = z.enum([
  'condition_triggered',
  'max_triggers_reached',
  'max_duration_reached',
  'max_windows_reached',
  'cancelled',
  'stream_ended',
  'stream_lost',
  'vlm_error',
  'internal_error',
]);
export type StopReason = z.infer<typeof stopReasonSchema>;

/** What a monitor was asked for, after defaults and clamping. Durations in seconds. */
export const monitorConfigSchema = z.object({
  condition: z.string(),
  interval_seconds: z.int(),
  input_mode: inputModeSchema,
  clip_duration_seconds: z.int(),
  monitor_duration_seconds: z.int(),
  trigger_cooldown_seconds: z.int(),
  max_triggers: z.int().nullable(),
  enable_prefilter: z.boolean(),
});
export type MonitorConfig = z.infer<typeof monitorConfigSchema>;

/** What a digest was asked for, after defaults. */
export const digestConfigSchema = z.object({
  window_minutes: z.int(),
  capture_interval_seconds: z.int(),
  /** null: until the duration is over. */
  max_windows: z.int().nullable(),
  /** How long it runs at most: what `max_windows` need, or the server's cap. Seconds. */
  digest_duration_seconds: z.int(),
  input_mode: z.literal('frames'),
  include_frames: z.boolean(),
  enable_prefilter: z.boolean(),
});
export type DigestConfig = z.infer<typeof digestConfigSchema>;

export const countersSchema = z.object({
  /** Monitor: looks that gave a verdict. Digest: captures that became samples. */
  checks_performed: countSchema,
  /** Looks, and of a digest summaries, that the model did not answer. */
  checks_missed: countSchema,
  triggers_fired: countSchema,
  /** Captures shown to the model, or kept to be shown to it. */
  frames_captured: countSchema,
  /** Captures not shown to the model: nothing moved, or the picture was frozen, black or the same segment again. */
  frames_skipped: countSchema,
  frozen_frames: countSchema,
  black_frames: countSchema,
  /** Ticks in which the playlist had stopped moving on. */
  stale_captures: countSchema,
  failed_captures: countSchema,
  input_tokens: countSchema,
  output_tokens: countSchema,
});
export type Counters = z.infer<typeof countersSchema>;

export const gapReasonSchema = z.enum(['stream', 'stale', 'model', 'service']);
export type GapReason = z.infer<typeof gapReasonSchema>;

export const gapSchema = z.object({ from: timestampSchema, to: timestampSchema, reason: gapReasonSchema });
export type Gap = z.infer<typeof gapSchema>;

/** What the decision after a tick remembers for the next one. */
export const tickStateSchema = z.object({
  last_trigger_at: timestampSchema.nullable(),
  skipped_in_a_row: countSchema,
  missed_in_a_row: countSchema,
  failed_in_a_row: countSchema,
  /** Since when the stream has been gone or stale. */
  lost_since: timestampSchema.nullable(),
  /** The last moment at which the stream was seen and, where a look was due, judged. */
  last_watched_at: timestampSchema.nullable(),
  /** Why the time since `last_watched_at` is not watched; null while it is. */
  gap_reason: gapReasonSchema.nullable(),
  gap_seconds: z.number().nonnegative(),
  /** The newest gaps, at most `maxCoverageGaps`. */
  gaps: z.array(gapSchema),
  /** The newest picture that was taken, judged or not; its key in the media store. Absent before there is one. */
  last_frame: z
    .object({
      key: z.string(),
      captured_at: timestampSchema,
      /** An event shows it, so it outlives the next one. Records of before do not say. */
      evidence: z.boolean().default(true),
    })
    .optional(),
});
export type TickState = z.infer<typeof tickStateSchema>;

/** What the last committed tick decided; a repeated Analyze answers from it. */
export const nextTickSchema = z.object({
  done: z.boolean(),
  wait_until: timestampSchema,
  looked: z.boolean(),
  closing: z.boolean(),
  resolve_again: z.boolean(),
});
export type NextTick = z.infer<typeof nextTickSchema>;

export const failureSchema = z.object({ code: z.string(), message: z.string(), remediation: z.string() });
export type Failure = z.infer<typeof failureSchema>;

/** What every job has. URLs in it are masked; the stream's own is in its source, the webhook's in `webhook_url`. */
const jobBaseSchema = z.object({
  job_id: z.uuid(),
  caller: z.string(),
  status: jobStatusSchema,
  created_at: timestampSchema,
  stream_url: z.string(),
  source_id: z.uuid(),
  webhook_url: z.string().nullable(),
  counters: countersSchema,
  watch: tickStateSchema,
  /** The number of the newest event. */
  sequence: countSchema,
  last_tick: countSchema,
  next: nextTickSchema.nullable(),
  generation: countSchema,
  /**
   * State for the first capture of a generation, stored by the tick that ends the generation before; null at any other time. About 10 kB,
   * so no other tick stores it. Absent in records of earlier releases.
   */
  handed_over: captureStateSchema.nullable().default(null),
  /** Until when the job may be silent before it counts as lost. */
  lease_until: timestampSchema,
  started_at: timestampSchema.nullable(),
  deadline: timestampSchema.nullable(),
  ended_at: timestampSchema.nullable(),
  reason: stopReasonSchema.nullable(),
  failure: failureSchema.nullable(),
  /** Up to which sequence events have reached the delivery queue. */
  published: countSchema,
  /** When the job is removed; null while it is active. */
  expires_at: timestampSchema.nullable(),
});
export type JobBase = z.infer<typeof jobBaseSchema>;

export const monitorJobSchema = jobBaseSchema.extend({
  job_type: z.literal('live-monitor'),
  config: monitorConfigSchema,
});
export type MonitorJob = z.infer<typeof monitorJobSchema>;

export const digestJobSchema = jobBaseSchema.extend({
  job_type: z.literal('live-digest'),
  config: digestConfigSchema,
  digest: digestStateSchema,
});
export type DigestJob = z.infer<typeof digestJobSchema>;

/** A job as it is stored. */
export const jobSchema = z.discriminatedUnion('job_type', [monitorJobSchema, digestJobSchema]);
export type Job = z.infer<typeof jobSchema>;

/** All that `capture` may read: nothing of the caller. */
export const sourceSchema = z.object({
  source_id: z.uuid(),
  url: z.string(),
  input_mode: inputModeSchema,
  clip_duration_seconds: z.int(),
});
export type Source = z.infer<typeof sourceSchema>;

/** Returns true if the job has expired at `now`. */
export function hasExpired({ expires_at: expiresAt }: Job, now: Date): boolean {
  return expiresAt !== null && Date.parse(expiresAt) <= now.getTime();
}

export const zeroCounters: Counters = {
  checks_performed: 0,
  checks_missed: 0,
  triggers_fired: 0,
  frames_captured: 0,
  frames_skipped: 0,
  frozen_frames: 0,
  black_frames: 0,
  stale_captures: 0,
  failed_captures: 0,
  input_tokens: 0,
  output_tokens: 0,
};

export const initialTickState: TickState = {
  last_trigger_at: null,
  skipped_in_a_row: 0,
  missed_in_a_row: 0,
  failed_in_a_row: 0,
  lost_since: null,
  last_watched_at: null,
  gap_reason: null,
  gap_seconds: 0,
  gaps: [],
};

import { z } from 'zod';
import { inputModeSchema, regionSchema } from './capture.ts';
import { webhookEventsSchema } from './delivery.ts';
import { failureSchema } from './failure.ts';
import { runMetaSchema, runProgressSchema } from './run-base.ts';
import { gapReasonSchema, initialSight, sightSchema } from './sight.ts';

const timestampSchema = z.iso.datetime();
const countSchema = z.int().nonnegative();

export const jobStatusSchema = z.enum(['pending', 'running', 'stopped', 'completed', 'failed']);
export type JobStatus = z.infer<typeof jobStatusSchema>;

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

/** Configuration of a monitor, after defaults and clamping. Durations in seconds. */
export const monitorConfigSchema = z.object({
  condition: z.string(),
  interval_seconds: z.int(),
  input_mode: inputModeSchema,
  clip_duration_seconds: z.int(),
  monitor_duration_seconds: z.int(),
  trigger_cooldown_seconds: z.int(),
  max_triggers: z.int().nullable(),
  enable_prefilter: z.boolean(),
  /** Present if a capture scans all of the stream since the one before. */
  look_back: z.literal(true).optional(),
});
export type MonitorConfig = z.infer<typeof monitorConfigSchema>;

/** Configuration of a digest, after defaults. */
export const digestConfigSchema = z.object({
  window_minutes: z.int(),
  capture_interval_seconds: z.int(),
  /** `null`: no limit but the duration. */
  max_windows: z.int().nullable(),
  /** Maximum runtime in seconds: the length of `max_windows` windows, or the server's cap. */
  digest_duration_seconds: z.int(),
  input_mode: z.literal('frames'),
  include_frames: z.boolean(),
  enable_prefilter: z.boolean(),
});
export type DigestConfig = z.infer<typeof digestConfigSchema>;

/** Numbers of a job. They only grow. */
export const countersSchema = z.object({
  /** Monitor: checks that returned a verdict. Digest: frames kept as samples. */
  checks_performed: countSchema,
  /** Model calls without a usable answer: checks, or summaries of a digest. */
  checks_missed: countSchema,
  triggers_fired: countSchema,
  /** Captures sent to the model, or kept as samples. */
  frames_captured: countSchema,
  /** Skipped captures: no motion, frozen, black or repeated. */
  frames_skipped: countSchema,
  frozen_frames: countSchema,
  black_frames: countSchema,
  /** Ticks with a stale playlist. */
  stale_captures: countSchema,
  failed_captures: countSchema,
  input_tokens: countSchema,
  output_tokens: countSchema,
});
export type Counters = z.infer<typeof countersSchema>;

/** Interval without observation; its reason is the first failure in it. */
export const gapSchema = z.object({ from: timestampSchema, to: timestampSchema, reason: gapReasonSchema });
export type Gap = z.infer<typeof gapSchema>;

/** Sight of a job, with the sum of its gaps. */
export const jobSightSchema = sightSchema.extend({
  gap_seconds: z.number().nonnegative(),
  /** Newest gaps, at most `maxCoverageGaps`. */
  gaps: z.array(gapSchema),
});
export type JobSight = z.infer<typeof jobSightSchema>;

/** Fields of all jobs. `webhook_url` is not masked. */
const jobBaseSchema = runMetaSchema.extend(runProgressSchema.shape).extend({
  status: jobStatusSchema,
  webhook_url: z.string().nullable(),
  webhook_events: webhookEventsSchema,
  /** Texts of the caller. */
  labels: z.array(z.string()),
  /** Time without an answer of the model after which the job fails, in seconds. */
  model_grace_seconds: z.number().nonnegative(),
  /** Differences between the request and the job, for its caller. */
  notices: z.array(z.string()),
  counters: countersSchema,
  sight: jobSightSchema,
  started_at: timestampSchema.nullable(),
  deadline: timestampSchema.nullable(),
  ended_at: timestampSchema.nullable(),
  reason: stopReasonSchema.nullable(),
  failure: failureSchema.nullable(),
  /** Expiry of the record; `null` while the job is active. */
  expires_at: timestampSchema.nullable(),
});
export type JobBase = z.infer<typeof jobBaseSchema>;

/** State of a monitor, carried from tick to tick. */
export const monitorStateSchema = z.object({ last_trigger_at: timestampSchema.nullable() });
export type MonitorState = z.infer<typeof monitorStateSchema>;

export const initialMonitorState: MonitorState = { last_trigger_at: null };

export const monitorJobSchema = jobBaseSchema.extend({
  policy: z.literal('monitor'),
  config: monitorConfigSchema,
  state: monitorStateSchema,
});
export type MonitorJob = z.infer<typeof monitorJobSchema>;

/** Frame kept for a summary: media key and capture time. */
export const sampleSchema = z.object({ frame_key: z.string(), captured_at: z.iso.datetime() });
export type StoredSample = z.infer<typeof sampleSchema>;

/** Number of skipped captures in a window, by reason. */
export const skippedSchema = z.object({
  no_motion: countSchema,
  frozen: countSchema,
  black: countSchema,
  repeated: countSchema,
});

/** Captures of a window so far. */
export const windowSchema = z.object({
  /** Starts at 1. */
  index: z.int().positive(),
  frames_captured: countSchema,
  skipped: skippedSchema,
  /** In time order, at most `maxSamplesPerWindow`; above it, samples are removed evenly. */
  samples: z.array(sampleSchema),
});
export type DigestWindow = z.infer<typeof windowSchema>;

/** End of a digest: the time up to which it has windows, and how the job ends with the last of them. */
export const digestEndSchema = z.object({
  at: z.iso.datetime(),
  reason: stopReasonSchema,
  /** Present if the job fails. */
  failure: failureSchema.optional(),
});
export type DigestEnd = z.infer<typeof digestEndSchema>;

/** State of a digest, carried from tick to tick. */
export const digestStateSchema = z.object({
  /** Number of windows with a summary in the log. */
  summarized: countSchema,
  /** Windows without a summary, oldest first. Windows without captures are absent. */
  windows: z.array(windowSchema),
  /** End of the digest while its last windows are pending: from `at` on nothing is captured. */
  end: digestEndSchema.nullable(),
});
export type DigestState = z.infer<typeof digestStateSchema>;

export const initialDigestState: DigestState = { summarized: 0, windows: [], end: null };

/** Creates a window without captures. */
export function emptyWindow(index: number): DigestWindow {
  return {
    index,
    frames_captured: 0,
    skipped: { no_motion: 0, frozen: 0, black: 0, repeated: 0 },
    samples: [],
  };
}

export const digestJobSchema = jobBaseSchema.extend({
  policy: z.literal('digest'),
  config: digestConfigSchema,
  state: digestStateSchema,
});
export type DigestJob = z.infer<typeof digestJobSchema>;

/** Stored job. */
export const jobSchema = z.discriminatedUnion('policy', [monitorJobSchema, digestJobSchema]);
export type Job = z.infer<typeof jobSchema>;
/** Policies of jobs. */
export type JobPolicy = Job['policy'];

/** Stream and mode of a job: all data that `capture` may read. */
export const sourceSchema = z.object({
  source_id: z.uuid(),
  caller: z.string(),
  url: z.string(),
  input_mode: inputModeSchema,
  clip_duration_seconds: z.int(),
  /** True if captures scan the stream since the one before. */
  look_back: z.boolean().optional(),
  /** Regions of a watch. Absent for jobs. */
  regions: z.array(regionSchema).nullish(),
  /** Set by stores that keep the source of an ended job for a while: its stream must not be requested any more. */
  ended: z.literal(true).optional(),
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

export const initialJobSight: JobSight = { ...initialSight, gap_seconds: 0, gaps: [] };

export type TerminalStatus = Extract<JobStatus, 'completed' | 'stopped' | 'failed'>;

/** Returns true if the job has ended. */
export function isTerminal(status: JobStatus): status is TerminalStatus {
  return status === 'completed' || status === 'stopped' || status === 'failed';
}

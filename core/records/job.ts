import { z } from 'zod';
import { apiNames } from '../api-names.ts';
import { inputModeSchema, regionSchema } from './capture.ts';
import { webhookEventsSchema } from './delivery.ts';
import { failureSchema } from './failure.ts';
import { runMetaSchema, runProgressSchema } from './run-base.ts';
import { jobRecords } from '../policies/records.ts';
import { gapSchema, initialSight, sightSchema } from './sight.ts';
import { stopReasonSchema } from './stop-reason.ts';

const timestampSchema = z.iso.datetime();
const countSchema = z.int().nonnegative();

export const jobStatusSchema = z.enum(['pending', 'running', 'stopped', 'completed', 'failed']);
apiNames.add(jobStatusSchema, { id: 'JobStatus' });
export type JobStatus = z.infer<typeof jobStatusSchema>;

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

type JobRecords = typeof jobRecords;
export type JobPolicy = keyof JobRecords;
export type ConfigOf<P extends JobPolicy> = z.infer<JobRecords[P]['fields']['config']>;
export type StateOf<P extends JobPolicy> = z.infer<JobRecords[P]['fields']['state']>;
export type JobOf<P extends JobPolicy> = {
  [K in P]: JobBase & { policy: K; config: ConfigOf<K>; state: StateOf<K> };
}[P];
export type Job = JobOf<JobPolicy>;

export const jobSchemas = Object.values(jobRecords).map(({ fields }) =>
  z.object({ ...jobBaseSchema.shape, ...fields }),
);
export const jobPolicies = Object.values(jobRecords).map(({ fields }) => fields.policy.value);

/** Stream and mode of a job: all data that `capture` may read. */
export const sourceSchema = z.object({
  source_id: z.uuid(),
  caller: z.string(),
  url: z.string(),
  input_mode: inputModeSchema,
  clip_duration_seconds: z.int(),
  /** True if captures scan the stream since the one before. */
  look_back: z.boolean().optional(),
  /** True if an HLS stream is followed between captures. */
  follow: z.boolean().optional(),
  /** Regions of a watch. Absent for jobs. */
  regions: z.array(regionSchema).nullish(),
  /** Days for which the pictures of a watch are kept if they are judged. Absent: none is. */
  memory_days: z.int().optional(),
  /**
   * Time before a capture whose stream is kept for clips, in seconds: what the clip shows, and the interval. Absent:
   * none is.
   */
  clip_seconds: z.int().optional(),
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

export function isTerminal(status: JobStatus): status is TerminalStatus {
  return status === 'completed' || status === 'stopped' || status === 'failed';
}

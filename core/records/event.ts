import { z } from 'zod';
import { failureSchema } from './failure.ts';
import { policyEvents, jobRecords } from '../policies/records.ts';
import { jobStatusSchema } from './job.ts';
import { stopReasonSchema } from './stop-reason.ts';

const countSchema = z.int().nonnegative();
const timestampSchema = z.iso.datetime();

const jobStartedSchema = z.object({
  type: z.literal('job_started'),
  data: z.object({
    job_type: z.string(),
    status: jobStatusSchema,
    config: z.union(Object.values(jobRecords).map(({ fields }) => fields.config)),
    /** Absent without any. */
    notices: z.array(z.string()).optional(),
  }),
});

export const streamStateSchema = z.enum(['ok', 'stale', 'reconnecting']);
export const pictureStateSchema = z.enum(['ok', 'frozen', 'black', 'repeated']);

const progressSchema = z.object({
  type: z.literal('progress'),
  data: z.object({
    /** Number of the tick. */
    check: z.int().positive(),
    checks_performed: countSchema,
    frames_skipped: countSchema,
    triggers_fired: countSchema,
    /** `null` if the tick has no verdict. */
    triggered: z.boolean().nullable(),
    /** False if the model could not judge the capture; `null` without a verdict. */
    judged: z.boolean().nullable(),
    prefilter_skipped: z.boolean(),
    /** Share of the frame that differs from the motion reference, 0 to 1; `null` without a capture. */
    motion: z.number().min(0).max(1).nullable(),
    explanation: z.string(),
    captured_at: timestampSchema.nullable(),
    stream: streamStateSchema,
    picture: pictureStateSchema.nullable(),
    next_check_at: timestampSchema.nullable(),
  }),
});

const errorSchema = z.object({ type: z.literal('error'), data: failureSchema });

const jobStoppedSchema = z.object({
  type: z.literal('job_stopped'),
  data: z.object({
    status: jobStatusSchema,
    reason: stopReasonSchema,
    checks_performed: countSchema,
    triggers_fired: countSchema,
    frames_skipped: countSchema,
    auto_stopped: z.boolean(),
    watch_duration_seconds: z.number().nonnegative(),
  }),
});

/** Event without job, sequence and time. Images are media keys. */
export const newEventSchema = z.discriminatedUnion('type', [
  jobStartedSchema,
  progressSchema,
  ...Object.values(policyEvents).map(({ stored }) => stored),
  errorSchema,
  jobStoppedSchema,
]);
export type NewEvent = z.infer<typeof newEventSchema>;
export type EventType = NewEvent['type'];

const positionSchema = z.object({
  job_id: z.uuid(),
  sequence: z.int().positive(),
  timestamp: timestampSchema,
});

/** Event as stored in the log of a job. */
export const jobEventSchema = z.intersection(positionSchema, newEventSchema);
export type JobEvent = z.infer<typeof jobEventSchema>;

/** Converts new events to stored ones, numbered from `sequence` + 1. */
export function assignSequences(events: NewEvent[], jobId: string, sequence: number, time: Date): JobEvent[] {
  return events.map((event, index) => ({
    ...event,
    job_id: jobId,
    sequence: sequence + 1 + index,
    timestamp: time.toISOString(),
  }));
}

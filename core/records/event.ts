import { z } from 'zod';
import { failureSchema } from './failure.ts';
import { gapSchema, jobSchema, jobStatusSchema, stopReasonSchema } from './job.ts';
import { evidenceBoxSchema, promptVersionSchema } from './vision.ts';

const countSchema = z.int().nonnegative();
const timestampSchema = z.iso.datetime();

const jobStartedSchema = z.object({
  type: z.literal('job_started'),
  data: z.object({
    job_type: z.string(),
    status: jobStatusSchema,
    config: z.union(jobSchema.options.map(({ shape }) => shape.config)),
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

const watchTriggeredSchema = z.object({
  type: z.literal('watch_triggered'),
  data: z.object({
    condition: z.string(),
    triggered: z.literal(true),
    explanation: z.string(),
    prefilter_skipped: z.boolean(),
    frame_key: z.string(),
    captured_at: timestampSchema,
    triggers_fired: countSchema,
    /** Absent without any. */
    boxes: z.array(evidenceBoxSchema).optional(),
    /** Absent from models without a prompt. */
    prompt_version: promptVersionSchema.optional(),
  }),
});

const summaryGeneratedSchema = z.object({
  type: z.literal('summary_generated'),
  data: z.object({
    /** Starts at 1, without gaps. */
    window_index: z.int().positive(),
    window_start: timestampSchema,
    window_end: timestampSchema,
    /** True if the job ended before the window. */
    partial: z.boolean(),
    summary: z.string(),
    frames_captured: countSchema,
    frames_skipped: countSchema,
    /** Intervals of the window without observation. */
    gaps: z.array(gapSchema),
    /** Media key of the frame grid. Absent if not requested, or if the window has no samples. */
    frame_grid_key: z.string().optional(),
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
  watchTriggeredSchema,
  summaryGeneratedSchema,
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
export function assignSequences(events: NewEvent[], jobId: string, sequence: number, at: Date): JobEvent[] {
  return events.map((event, index) => ({
    ...event,
    job_id: jobId,
    sequence: sequence + 1 + index,
    timestamp: at.toISOString(),
  }));
}

import { z } from 'zod';
import {
  digestConfigSchema,
  failureSchema,
  gapSchema,
  jobStatusSchema,
  monitorConfigSchema,
  stopReasonSchema,
} from './job.ts';

/** Events of a job's ordered log (design section 9), as they are stored: pictures are keys of the media store. */

const countSchema = z.int().nonnegative();
const timestampSchema = z.iso.datetime();

const jobStartedSchema = z.object({
  type: z.literal('job_started'),
  data: z.object({
    job_type: z.string(),
    status: jobStatusSchema,
    config: z.union([monitorConfigSchema, digestConfigSchema]),
  }),
});

export const streamStateSchema = z.enum(['ok', 'stale', 'reconnecting']);
export const pictureStateSchema = z.enum(['ok', 'frozen', 'black', 'repeated']);

const progressSchema = z.object({
  type: z.literal('progress'),
  data: z.object({
    /** The tick's number. */
    check: z.int().positive(),
    checks_performed: countSchema,
    frames_skipped: countSchema,
    triggers_fired: countSchema,
    /** null where the model gave no verdict in this tick. */
    triggered: z.boolean().nullable(),
    prefilter_skipped: z.boolean(),
    /** Share of the picture that changed against the last picture the model saw, 0 to 1; null without a capture. */
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
  }),
});

const summaryGeneratedSchema = z.object({
  type: z.literal('summary_generated'),
  data: z.object({
    /** From 1, without gaps. */
    window_index: z.int().positive(),
    window_start: timestampSchema,
    window_end: timestampSchema,
    /** The job ended before the window did. */
    partial: z.boolean(),
    summary: z.string(),
    frames_captured: countSchema,
    frames_skipped: countSchema,
    /** When the stream was not seen in this window. */
    gaps: z.array(gapSchema),
    /** Asked for, and there were pictures: a JPEG of them side by side, with their times. */
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

/** An event before it has its place in the log. */
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

const placeSchema = z.object({
  job_id: z.uuid(),
  sequence: z.int().positive(),
  timestamp: timestampSchema,
});

export const jobEventSchema = z.intersection(placeSchema, newEventSchema);
export type JobEvent = z.infer<typeof jobEventSchema>;

/** Which events a webhook receives: all but `progress` (design section 9). */
export function isDeliveredByWebhook(type: EventType): boolean {
  return type !== 'progress';
}

/** Gives new events their sequences, from `sequence` + 1 on. */
export function assignSequences(events: NewEvent[], jobId: string, sequence: number, at: Date): JobEvent[] {
  return events.map((event, index) => ({
    ...event,
    job_id: jobId,
    sequence: sequence + 1 + index,
    timestamp: at.toISOString(),
  }));
}

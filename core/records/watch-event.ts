import { z } from 'zod';
import { pictureStateSchema, streamStateSchema } from './event.ts';
import { streamLossReasonSchema } from './sight.ts';
import { alertClipSchema } from './clip.ts';
import { evidenceBoxSchema, promptVersionSchema } from './vision.ts';
import { severitySchema, type Watch } from './watch.ts';
import {
  alertCloseReasonSchema,
  conditionPhaseSchema,
  countedCheckSchema,
  lostSecondsSchema,
  maxExplanationLength,
  seenSecondsSchema,
  watchStatusSchema,
} from './watch-state.ts';

const timestampSchema = z.iso.datetime();
const explanationSchema = z.string().max(maxExplanationLength);

const alertFields = {
  alert_id: z.uuid(),
  condition_id: z.string(),
  condition: z.string(),
  severity: severitySchema,
  opened_at: timestampSchema,
};

const alertOpenedSchema = z.object({
  type: z.literal('alert_opened'),
  data: z.object({
    ...alertFields,
    explanation: explanationSchema,
    /** Verdicts that counted, oldest first. */
    checks: z.array(countedCheckSchema),
    frame_key: z.string().nullable(),
    boxes: z.array(evidenceBoxSchema).optional(),
    prompt_version: promptVersionSchema.optional(),
    /** Present if the alert is over: it opened with a moment before the newest frame, and closed in the same tick. */
    ended: z.literal(true).optional(),
    /** Present with `ended`. */
    open_seconds: z.number().nonnegative().optional(),
    /** Present with `ended`. */
    seen_seconds: seenSecondsSchema.optional(),
    lost_seconds: lostSecondsSchema,
    shortest_visit_seconds: z
      .number()
      .nonnegative()
      .optional()
      .describe('Duration from which a visit is sure to be seen and confirmed'),
  }),
});

const alertReminderSchema = z.object({
  type: z.literal('alert_reminder'),
  data: z.object({
    ...alertFields,
    open_seconds: z.number().nonnegative(),
    /** Explanation of the newest verdict. */
    explanation: explanationSchema,
    frame_key: z.string().nullable(),
  }),
});

const alertAcknowledgedSchema = z.object({
  type: z.literal('alert_acknowledged'),
  data: z.object({ ...alertFields, by: z.string() }),
});

const alertClosedSchema = z.object({
  type: z.literal('alert_closed'),
  data: z.object({
    ...alertFields,
    closed_at: timestampSchema,
    open_seconds: z.number().nonnegative(),
    seen_seconds: seenSecondsSchema,
    reason: alertCloseReasonSchema,
    explanation: explanationSchema,
    frame_key: z.string().nullable(),
  }),
});

const alertClipEventSchema = z.object({
  type: z.literal('alert_clip'),
  data: z.object({
    ...alertFields,
    ...alertClipSchema.shape,
    /** Sequence of the opening: who received it receives the clip. */
    opening: z.int().positive(),
  }),
});

/** Changes by a caller that end a trouble. */
const endedBySchema = z.enum(['paused', 'deleted', 'changed']);
export type EndedBy = z.infer<typeof endedBySchema>;

const streamFields = {
  reason: streamLossReasonSchema,
  lost_seconds: z.number().nonnegative(),
  /** Ids of the alerts that are open meanwhile. */
  open_alerts: z.array(z.uuid()),
};

const streamLostSchema = z.object({ type: z.literal('stream_lost'), data: z.object(streamFields) });
const streamRecoveredSchema = z.object({
  type: z.literal('stream_recovered'),
  data: z.object({
    ...streamFields,
    /** Present if the stream is not back: the watch was paused or deleted, or has another stream. */
    ended_by: endedBySchema.optional(),
  }),
});

export const watchChangeReasonSchema = z.enum([
  'created',
  'deleted',
  'paused',
  'resumed',
  'changed',
  'schedule_began',
  'schedule_ended',
  'budget_warning',
  'budget_exhausted',
  'budget_renewed',
  'model_without_price',
  'checks_late',
  'checks_in_time',
  'destination_failed',
  'destination_recovered',
  'model_failed',
  'model_recovered',
  'view_changed',
  'view_restored',
  'unsure_sightings',
]);
export type WatchChangeReason = z.infer<typeof watchChangeReasonSchema>;

const unsureSightingsSchema = z.array(
  z.object({ condition_id: z.string(), condition: z.string(), sightings: z.int().positive() }),
);
export type UnsureSightings = z.infer<typeof unsureSightingsSchema>;

const watchChangedSchema = z.object({
  type: z.literal('watch_changed'),
  data: z.object({
    status: watchStatusSchema,
    reason: watchChangeReasonSchema,
    /** Destination that failed or recovered. */
    destination_id: z.string().optional(),
    /** Present if a change by a caller ended the trouble: the watch was deleted, or the destination removed. */
    ended_by: endedBySchema.optional(),
    removed_conditions: z.array(z.string()).optional(),
    /** Newest error of a failed destination or model. */
    error: z.string().optional(),
    late_seconds: z.number().nonnegative().optional(),
    /** Checks of a week in which a condition may have held. */
    unsure_sightings: unsureSightingsSchema.optional(),
  }),
});

const watchProgressSchema = z.object({
  type: z.literal('progress'),
  data: z.object({
    /** Number of the tick. */
    check: z.int().positive(),
    conditions: z.array(
      z.object({
        condition_id: z.string(),
        /** `null` if the tick has no verdict of the condition. */
        triggered: z.boolean().nullable(),
        /** Phase after the tick. */
        state: conditionPhaseSchema,
        explanation: explanationSchema,
      }),
    ),
    prefilter_skipped: z.boolean(),
    /** Share of the frame that differs from the motion reference, 0 to 1; `null` without a capture. */
    motion: z.number().min(0).max(1).nullable(),
    explanation: z.string(),
    captured_at: timestampSchema.nullable(),
    stream: streamStateSchema,
    picture: pictureStateSchema.nullable(),
    next_check_at: timestampSchema.nullable(),
    moments_judged: z
      .int()
      .positive()
      .optional()
      .describe('Earlier moments that the model judged beside the newest frame; absent without any'),
  }),
});

/** Event of a watch without position and time. Images are media keys. */
export const newWatchEventSchema = z.discriminatedUnion('type', [
  alertOpenedSchema,
  alertReminderSchema,
  alertAcknowledgedSchema,
  alertClosedSchema,
  alertClipEventSchema,
  streamLostSchema,
  streamRecoveredSchema,
  watchChangedSchema,
  watchProgressSchema,
]);
export type NewWatchEvent = z.infer<typeof newWatchEventSchema>;

export const watchEventTypeSchema = z.enum(newWatchEventSchema.options.map(({ shape }) => shape.type.value));
export type WatchEventType = NewWatchEvent['type'];

/**
 * Event as stored in the log of a watch. Name and labels are those at its time, and so is the stream (`former_streams`
 * of the watch).
 */
export const watchEventSchema = z.intersection(
  z.object({
    watch_id: z.uuid(),
    watch_name: z.string(),
    labels: z.array(z.string()),
    sequence: z.int().positive(),
    timestamp: timestampSchema,
  }),
  newWatchEventSchema,
);
export type WatchEvent = z.infer<typeof watchEventSchema>;

/** Converts new events to stored ones, numbered from `sequence` + 1. */
export function toWatchEvents(
  events: readonly NewWatchEvent[],
  { run_id: watch_id, config }: Watch,
  sequence: number,
  time: Date,
): WatchEvent[] {
  return events.map((event, index) => ({
    ...event,
    watch_id,
    watch_name: config.name,
    labels: config.labels,
    sequence: sequence + 1 + index,
    timestamp: time.toISOString(),
  }));
}

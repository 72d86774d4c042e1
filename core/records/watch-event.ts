import { z } from 'zod';
import { pictureStateSchema, streamStateSchema } from './event.ts';
import { severitySchema } from './watch.ts';

const timestampSchema = z.iso.datetime();
const secondsSchema = z.number().nonnegative();

/** Status of a watch: the first cause that applies, or `active`. */
export const watchStatusSchema = z.enum([
  'paused',
  'off_schedule',
  'budget_exhausted',
  'stream_lost',
  'active',
]);
export type WatchStatus = z.infer<typeof watchStatusSchema>;

/** Result of a check for one condition. `not_judged` is no datapoint. */
export const watchVerdictSchema = z.enum(['holds', 'does_not_hold', 'not_judged']);
export type WatchVerdict = z.infer<typeof watchVerdictSchema>;

/** Reason of a closing: the condition ended (`clear`), or the watch or the condition changed. */
export const closeReasonSchema = z.enum(['clear', 'paused', 'off_schedule', 'changed', 'removed', 'deleted']);
export type CloseReason = z.infer<typeof closeReasonSchema>;

/** Reason of a lost stream. */
export const streamLossReasonSchema = z.enum([
  'unreachable',
  'unauthorized',
  'stale',
  'not_live',
  'frozen',
  'black',
]);
export type StreamLossReason = z.infer<typeof streamLossReasonSchema>;

export const watchChangeReasonSchema = z.enum([
  'created',
  'paused',
  'resumed',
  'changed',
  'schedule_ended',
  'schedule_began',
  'budget_warning',
  'budget_exhausted',
  'budget_renewed',
  'price_unknown',
  'deleted',
]);

/** Datapoint that counted for an opening. */
const checkSchema = z.object({ at: timestampSchema, triggered: z.boolean() });

const alertHead = {
  alert_id: z.uuid(),
  condition_id: z.string(),
  condition: z.string(),
  severity: severitySchema,
  opened_at: timestampSchema,
  explanation: z.string(),
  /** Media key of the evidence; `null` if there is none. */
  frame_key: z.string().nullable(),
};

const streamLossData = z.object({
  reason: streamLossReasonSchema,
  lost_seconds: secondsSchema,
  /** Ids of alerts that were open. */
  open_alerts: z.array(z.uuid()),
});

/** Event of a watch without its position. Images are media keys; name and labels are added for readers. */
export const newWatchEventSchema = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('alert_opened'),
    data: z.object({ ...alertHead, checks: z.array(checkSchema) }),
  }),
  z.object({
    type: z.literal('alert_reminder'),
    data: z.object({ ...alertHead, checks: z.array(checkSchema), open_seconds: secondsSchema }),
  }),
  z.object({
    type: z.literal('alert_acknowledged'),
    data: z.object({
      alert_id: z.uuid(),
      condition_id: z.string(),
      condition: z.string(),
      severity: severitySchema,
      opened_at: timestampSchema,
      /** Label or prefix of the key. */
      by: z.string(),
    }),
  }),
  z.object({
    type: z.literal('alert_closed'),
    data: z.object({
      ...alertHead,
      closed_at: timestampSchema,
      open_seconds: secondsSchema,
      reason: closeReasonSchema,
    }),
  }),
  z.object({ type: z.literal('stream_lost'), data: streamLossData }),
  z.object({ type: z.literal('stream_recovered'), data: streamLossData }),
  z.object({
    type: z.literal('watch_changed'),
    data: z.object({ status: watchStatusSchema, reason: watchChangeReasonSchema }),
  }),
  z.object({
    type: z.literal('progress'),
    data: z.object({
      /** Number of the tick. */
      check: z.int().positive(),
      status: watchStatusSchema,
      /** One entry for each condition that the model was asked about; empty without a model call. */
      verdicts: z.array(
        z.object({ condition_id: z.string(), verdict: watchVerdictSchema, explanation: z.string() }),
      ),
      prefilter_skipped: z.boolean(),
      /** Share of the frame that differs from the motion reference, 0 to 1; `null` without a capture. */
      motion: z.number().min(0).max(1).nullable(),
      captured_at: timestampSchema.nullable(),
      stream: streamStateSchema,
      picture: pictureStateSchema.nullable(),
      next_check_at: timestampSchema.nullable(),
    }),
  }),
]);
export type NewWatchEvent = z.infer<typeof newWatchEventSchema>;

/** Event as stored in the log of a watch. */
export const watchEventSchema = z.intersection(
  z.object({ watch_id: z.uuid(), sequence: z.int().positive(), timestamp: timestampSchema }),
  newWatchEventSchema,
);
export type WatchEvent = z.infer<typeof watchEventSchema>;

/** Converts new events to stored ones, numbered from `sequence` + 1. */
export function assignWatchSequences(
  events: readonly NewWatchEvent[],
  watchId: string,
  sequence: number,
  at: Date,
): WatchEvent[] {
  return events.map((event, index) => ({
    ...event,
    watch_id: watchId,
    sequence: sequence + 1 + index,
    timestamp: at.toISOString(),
  }));
}

import { z } from 'zod';
import { apiNames } from '../api-names.ts';
import { inputModeSchema, regionSchema } from './capture.ts';
import { evidenceClipSchema } from './clip.ts';
import { sensitivitySchema } from './vision.ts';
import { runMetaSchema } from './run-base.ts';

const timestampSchema = z.iso.datetime();

/** Severities from the lowest to the highest. */
export const severitySchema = z.enum(['info', 'warning', 'critical']);
apiNames.add(severitySchema, { id: 'Severity' });
export type Severity = z.infer<typeof severitySchema>;

/** Subject of an alert: one visit, a stay with short absences, or what the numbers of the condition say. */
export const alertOnSchema = z.enum(['each_visit', 'each_stay', 'by_checks']);
apiNames.add(alertOnSchema, { id: 'AlertOn' });

/** Condition of a watch, after defaults. Durations in seconds. */
export const watchConditionSchema = z.object({
  condition_id: z.string(),
  condition: z.string(),
  /** Absent: by_checks. */
  alert_on: alertOnSchema.optional(),
  /** M of the last N verdicts (`checks_considered`) that must hold to open an alert. */
  checks_to_open: z.int(),
  checks_considered: z.int(),
  /** Time for which it must have held before an alert opens. Absent: 0. */
  open_after_seconds: z.int().optional(),
  /** Consecutive verdicts that do not hold, after which an alert closes. */
  checks_to_close: z.int(),
  /** Minimum time from the last verdict that held to the closing. */
  close_after_seconds: z.int(),
  /** Minimum time from one opening to the next. */
  cooldown_seconds: z.int(),
  /** `null`: an open alert is not repeated. */
  remind_seconds: z.int().nullable(),
  severity: severitySchema,
  /** Absent: normal. */
  sensitivity: sensitivitySchema.optional(),
});
apiNames.add(watchConditionSchema, { id: 'WatchCondition' });
export type WatchCondition = z.infer<typeof watchConditionSchema>;

/** Returns the digest of what a model is asked about a condition: FNV-1a, to the base of 36. */
export function digestQuestion({
  condition,
  sensitivity = 'normal',
}: Pick<WatchCondition, 'condition' | 'sensitivity'>): string {
  let hash = 0x811c9dc5;
  for (const character of `${sensitivity} ${condition}`)
    hash = Math.imul(hash ^ (character.codePointAt(0) ?? 0), 0x01000193) >>> 0;
  return hash.toString(36);
}

export const weekdaySchema = z.enum(['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun']);

const activeSpanSchema = z.object({ days: z.array(weekdaySchema), from: z.string(), to: z.string() });
apiNames.add(activeSpanSchema, { id: 'ActiveSpan' });

/**
 * Local times at which a watch is active. A span belongs to the day of `from` and may cross midnight; `to` may be
 * 24:00.
 */
export const scheduleSchema = z.object({
  /** IANA name. */
  time_zone: z.string(),
  active: z.array(activeSpanSchema),
});
apiNames.add(scheduleSchema, { id: 'Schedule' });
export type Schedule = z.infer<typeof scheduleSchema>;

/** Shortest delay of a confirming check, in seconds. */
export const minConfirmSeconds = 1;

/** Limits per day, in the time zone of the schedule or else UTC. `null`: no limit. */
export const budgetSchema = z.object({
  model_calls_per_day: z.int().nullable(),
  usd_per_day: z.number().nullable(),
});
apiNames.add(budgetSchema, { id: 'Budget' });
export type Budget = z.infer<typeof budgetSchema>;

export const destinationTypeSchema = z.enum([
  'webhook',
  'slack',
  'discord',
  'ntfy',
  'telegram',
  'pagerduty',
  'email',
  'mqtt',
  'heartbeat',
]);
apiNames.add(destinationTypeSchema, { id: 'DestinationType' });
export type DestinationType = z.infer<typeof destinationTypeSchema>;

/** Events that a destination receives, besides failures, which reach all. Each value includes those before it. */
export const notifySchema = z.enum(['openings', 'openings_and_closings', 'everything']);
apiNames.add(notifySchema, { id: 'Notify' });
export type Notify = z.infer<typeof notifySchema>;

/** Destination of a watch. Its address is stored apart (`WatchSecrets`). */
export const destinationSchema = z.object({
  destination_id: z.string(),
  type: destinationTypeSchema,
  /** Masked address for responses: URL, integration key or recipient. */
  url_masked: z.string(),
  /** Keyed hash of the address, so that a reader can compare addresses without seeing them. */
  fingerprint: z.string(),
  /** `null` for a heartbeat, which receives no events. */
  notify: notifySchema.nullable(),
  /** Minimum severity of the alerts whose openings are delivered. */
  min_severity: severitySchema,
  /** True if events contain the frame as base64. */
  include_frame: z.boolean(),
  /** False if clips are left out. */
  include_clip: z.boolean(),
});
apiNames.add(destinationSchema, { id: 'Destination' });
export type Destination = z.infer<typeof destinationSchema>;

/** Address of a destination with all its secrets; `deliver` alone reads it. */
export const destinationAddressSchema = z.object({
  destination_id: z.string(),
  type: destinationTypeSchema,
  /** Absent for e-mail, and for the own endpoints of PagerDuty and Telegram. */
  url: z.string().optional(),
  /** PagerDuty only. */
  routing_key: z.string().optional(),
  /** ntfy: access token; Telegram: token of the bot. */
  token: z.string().optional(),
  /** E-mail: the recipient; Telegram: the chat. */
  to: z.string().optional(),
});
export type DestinationAddress = z.infer<typeof destinationAddressSchema>;

/** Configuration of a watch, after defaults. Only a change by a caller writes it; ticks do not. */
export const watchConfigSchema = z.object({
  name: z.string(),
  interval_seconds: z.int(),
  input_mode: inputModeSchema,
  clip_duration_seconds: z.int(),
  enable_prefilter: z.boolean(),
  /** True if a capture scans all of the stream since the one before. */
  look_back: z.boolean(),
  /** True if an HLS stream is followed between captures, so that motion wakes the watch. */
  follow: z.boolean(),
  conditions: z.array(watchConditionSchema),
  /** Delay of a confirming check. */
  confirm_seconds: z.int(),
  /** `null`: always active. */
  schedule: scheduleSchema.nullable(),
  budget: budgetSchema.nullable(),
  destinations: z.array(destinationSchema),
  regions: z.array(regionSchema).nullable(),
  /** Retention of alerts and evidence. */
  retention_days: z.int(),
  /** Clip of each opening; `null`: none. */
  evidence_clip: evidenceClipSchema.nullable().default(null),
  /** Days for which judged pictures are kept as moments; 0 keeps none. */
  memory_days: z.int(),
  /** True to have each of them described, whatever the conditions. */
  scene: z.boolean(),
  labels: z.array(z.string()),
});
export type WatchConfig = z.infer<typeof watchConfigSchema>;

export const watchSchema = runMetaSchema.extend({
  policy: z.literal('watch'),
  updated_at: timestampSchema,
  /** The ETag. Each change by a caller increments it. */
  config_version: z.int().positive(),
  /** Keyed hash of the full URL, as of an address; `null` if unknown. */
  stream_fingerprint: z.string().nullable(),
  config: watchConfigSchema,
  /** Position of the event of the newest change of its stream or regions; absent without one. */
  view_sequence: z.int().positive().optional(),
  /** Masked URLs before a change, oldest first, with the sequence of their last event: it names them. */
  former_streams: z
    .array(z.object({ stream_url: z.string(), last_sequence: z.int().nonnegative() }))
    .optional(),
});
export type Watch = z.infer<typeof watchSchema>;

export const watchSecretsSchema = z.object({
  watch_id: z.uuid(),
  destinations: z.array(destinationAddressSchema),
});
export type WatchSecrets = z.infer<typeof watchSecretsSchema>;

import { findingsSchema } from './checks.ts';
import { z } from 'zod';
import { apiNames } from '../api-names.ts';
import { watchConfigSchema } from '../records/watch.ts';
import {
  alertSchema,
  conditionPhaseSchema,
  watchCausesSchema,
  watchStatusSchema,
} from '../records/watch-state.ts';
import { failureSchema } from '../records/failure.ts';
import { spanClasses, spanReasonSchema, streamTroubleSchema } from '../records/sight.ts';
import { evidenceBoxSchema } from '../records/vision.ts';
import { count, sourceUrl, timestamp } from './fields.ts';

const watchId = z.uuid();

const conditionStateSchema = z.object({
  condition_id: z.string(),
  state: conditionPhaseSchema.describe('unknown: no sight yet, or none for too long'),
  unconfirmed: z.boolean().describe('True if an open alert had no sight for too long'),
  unjudged: z.boolean().describe('True if the model responds that it cannot judge the condition'),
  alert_id: z.uuid().nullable().describe('Open alert'),
  opened_at: timestamp.nullable(),
  holding_since: timestamp
    .nullable()
    .describe('Time since which it holds while its alert waits for open_after_seconds; null: it does not'),
  held_at: timestamp.nullable().describe('Time of the newest verdict of the open alert that held'),
  seen_at: timestamp.describe('Time of the last sight, or of the begin without one'),
  last_opened_at: timestamp.nullable().describe('Time of the newest opening of an alert'),
  explanation: z.string().nullable().describe('Explanation of the newest verdict of the open alert'),
  snoozed_until: timestamp.nullable(),
  snoozes: z
    .array(z.object({ from: timestamp, to: timestamp }))
    .describe('Newest snoozes, oldest first; at most 5'),
});
apiNames.add(conditionStateSchema, { id: 'ConditionState' });

/** Openings that a destination accepted and that still stand. */
const notifiedSchema = z.object({
  destination_id: z.string(),
  url_masked: z.string(),
  open_alerts: z.array(z.uuid()).describe('Ids of open alerts whose opening it accepted'),
  stream_lost: z.boolean().describe('True if it accepted the report of a lost stream'),
});

const watchStateSchema = z.object({
  causes: watchCausesSchema
    .extend({ stream_lost: streamTroubleSchema.pick({ since: true, reason: true }).nullable() })
    .describe('Each cause of a status with its start and reason; null: does not apply'),
  conditions: z.array(conditionStateSchema),
  last_check: count.describe('Number of the newest check'),
  last_frame_at: timestamp.nullable(),
  shortest_visit_seconds: z
    .number()
    .nonnegative()
    .describe('Duration from which a visit is sure to be seen and confirmed, by what is known of the stream'),
  next_check_at: timestamp.nullable(),
  late_since: timestamp
    .nullable()
    .describe('Planned time of a check that the service made late; null if checks are in time'),
  view_changed_since: timestamp
    .nullable()
    .describe('Time since which the camera shows another view than that of the regions; else null'),
  destinations_failing: z
    .array(z.object({ destination_id: z.string(), since: timestamp, error: z.string() }))
    .describe('Destinations that accept nothing'),
  model_failure: failureSchema.nullable().describe('Newest failure of the model, null after a success'),
  budget: z
    .object({
      day: z.string(),
      model_calls: count,
      usd: z.number().nonnegative().nullable().describe('null if a price is unknown'),
    })
    .nullable()
    .describe('Use of the day; null without a budget'),
});
apiNames.add(watchStateSchema, { id: 'WatchState' });

/** Watch: its configuration after defaults, and its state. Addresses of destinations are masked. */
export const watchResponseSchema = z.object({
  watch_id: watchId,
  name: z.string(),
  status: watchStatusSchema.describe('The first cause that applies, or active'),
  config_version: z
    .int()
    .positive()
    .describe('Version of the configuration; the ETag is this number in quotes'),
  created_at: timestamp,
  updated_at: timestamp.describe('Time of the last change of the configuration'),
  stream_url: sourceUrl,
  stream_fingerprint: z
    .string()
    .nullable()
    .describe('Keyed hash of the full URL: equal for equal URLs; null if unknown'),
  ...watchConfigSchema.omit({ name: true }).shape,
  state: watchStateSchema,
});
apiNames.add(watchResponseSchema, { id: 'Watch' });

/** Answer to a creation or change of a watch. */
export const changedWatchResponseSchema = watchResponseSchema.and(
  z.object({
    not_judged: z
      .array(z.object({ condition_id: z.string(), findings: findingsSchema }))
      .optional()
      .describe('Parts of its conditions that the model does not judge; absent: it judges all'),
    former_destinations: z
      .array(
        z.object({
          ...notifiedSchema.shape,
          error: z
            .string()
            .nullable()
            .describe(
              'Why incidents of PagerDuty were not resolved, or entities of a broker not removed; null if they were, and for other types',
            ),
        }),
      )
      .optional()
      .describe(
        'After a change that removes destinations or gives them another address: what each was notified of that still stands. It receives nothing more',
      ),
  }),
);
apiNames.add(changedWatchResponseSchema, { id: 'ChangedWatch' });

export const watchListResponseSchema = z.object({
  watches: z.array(watchResponseSchema).describe('Oldest first'),
  total: count.describe('Number of matching watches on all pages'),
  limit: z.int(),
  offset: z.int(),
});
apiNames.add(watchListResponseSchema, { id: 'WatchList' });

export const deletedWatchResponseSchema = z.object({
  watch_id: watchId,
  message: z.string(),
  notified: z
    .array(notifiedSchema)
    .optional()
    .describe('Destinations that were notified of something that the deletion ends'),
});
apiNames.add(deletedWatchResponseSchema, { id: 'DeletedWatch' });

/** Alert with its evidence as a link. */
export const alertResponseSchema = alertSchema
  .omit({
    caller: true,
    seen_from: true,
    behind_seconds: true,
    frame_key: true,
    clip: true,
    closed: true,
    expires_at: true,
  })
  .extend({
    state: z.enum(['open', 'closed']),
    open_seconds: z.number().nonnegative(),
    closed: alertSchema.shape.closed.unwrap().omit({ frame_key: true }).nullable(),
    frame_url: z
      .string()
      .nullable()
      .describe('URL of the evidence; requires the API key. null if no frame was left'),
    clip: alertSchema.shape.clip
      .unwrap()
      .omit({ clip_key: true })
      .extend({
        clip_url: z.string().nullable().describe('URL of the clip; requires the API key. null without one'),
      })
      .nullable()
      .describe('Film around the opening; null before it is ready, and without evidence_clip'),
    expires_at: timestamp.nullable().describe('null while the alert is open'),
  });
apiNames.add(alertResponseSchema, { id: 'Alert' });

export const alertListResponseSchema = z.object({
  alerts: z.array(alertResponseSchema).describe('Newest first'),
  next_after: z.string().nullable().describe('Value of after for the next page; null on the last'),
});
apiNames.add(alertListResponseSchema, { id: 'AlertList' });

const seconds = z.number().nonnegative();
const countersSchema = z.object({
  checks: count.describe('Captures that the model judged'),
  verdicts: count.describe('One per condition and check'),
  not_judged: count,
  model_calls: count,
  model_failures: count,
  skipped: count.describe('Captures that the pre-filter skipped'),
  failed_captures: count,
  alerts_opened: count,
  alerts_closed: count,
  reminders: count,
  input_tokens: count,
  output_tokens: count,
  usd: z
    .number()
    .nonnegative()
    .nullable()
    .describe('Cost by the list price of the model; null if its price is not known'),
  coverage: z
    .number()
    .min(0)
    .max(1)
    .nullable()
    .describe('Share of the active time with sight; null without active time'),
  judged_seconds: seconds.describe('The model judged what moved'),
  quiet_seconds: seconds.describe('Scanned, nothing moved'),
  between_seconds: seconds.describe('Between two pictures'),
  not_seen_seconds: seconds.describe('In gaps'),
  unjudged_seconds: z.record(z.string(), seconds).describe('The first two, not judged for a condition'),
  unsure_sightings: z
    .record(z.string(), count)
    .describe('Checks, by condition, that did not hold but may have seen it'),
});
apiNames.add(countersSchema, { id: 'WatchCounters' });

const interval = z.object({ from: z.number(), to: z.number() });
apiNames.add(interval, { id: 'Interval' });

const precisionSchema = z.object({
  condition_id: z.string(),
  reviewed: count,
  correct: count,
  precision: z.number().min(0).max(1).nullable(),
  interval: interval.nullable().describe('95 % confidence interval of the precision (Wilson)'),
  missed: count.describe('Moments that were reviewed as missed'),
  recall: z
    .number()
    .min(0)
    .max(1)
    .nullable()
    .describe('Share of right alerts in those and what was missed; null if no miss is known'),
  recall_interval: interval.nullable().describe('95 % confidence interval of the recall (Wilson)'),
});
apiNames.add(precisionSchema, { id: 'WatchPrecision' });

export const watchStatsResponseSchema = z.object({
  watch_id: watchId,
  from: timestamp,
  to: timestamp,
  total: countersSchema,
  days: z.array(countersSchema.and(z.object({ day: z.string().describe('Date (UTC)') }))),
  hours: z
    .array(
      countersSchema.and(
        z.object({
          hour: timestamp,
          gaps: z.array(z.object({ from: timestamp, to: timestamp, reason: spanReasonSchema })),
          spans: z
            .array(z.object({ from: timestamp, to: timestamp, class: z.enum(spanClasses) }))
            .optional()
            .describe('With spans=true; active time of none is between pictures'),
        }),
      ),
    )
    .describe('Hours (UTC) with checks; at most the newest 168'),
  precision: z.array(precisionSchema).describe('Reviewed alerts by condition'),
  weeks: z
    .array(precisionSchema.and(z.object({ week: z.string().describe('Monday (UTC)') })))
    .describe('Reviewed alerts by condition and week'),
});
apiNames.add(watchStatsResponseSchema, { id: 'WatchStats' });

/** Verdicts of a preview: one check of all conditions, without a change of the watch. */
export const previewResponseSchema = z.object({
  verdicts: z.array(
    z.object({
      condition_id: z.string(),
      condition: z.string(),
      triggered: z.boolean(),
      judged: z.literal(false).optional().describe('False if the model could not judge the condition'),
      explanation: z.string(),
      findings: findingsSchema,
      boxes: z
        .array(evidenceBoxSchema)
        .optional()
        .describe('Objects that the condition names, best first; only from the object model'),
      shown_at_seconds: z
        .number()
        .optional()
        .describe('Time in the clip of the frame that `boxes` are of; absent: they are of `frame_b64`'),
    }),
  ),
  captured_at: timestamp,
  latency_ms: count,
  frame_b64: z.string().describe('JPEG as base64, without a data: prefix'),
});
apiNames.add(previewResponseSchema, { id: 'WatchPreview' });

import { z } from 'zod';
import { apiNames } from '../api-names.ts';
import { alertClipSchema, type AlertClip } from './clip.ts';
import { evidenceBoxSchema, promptVersionSchema } from './vision.ts';
import { severitySchema } from './watch.ts';

/** Length of the description of a view: one character for each of its cells (`sight/view.ts`). */
export const viewLength = 220;

const timestampSchema = z.iso.datetime();
const countSchema = z.int().nonnegative();

/** Maximum length of an explanation in a watch's state, alerts and events, in characters. */
export const maxExplanationLength = 200;
const explanationSchema = z.string().max(maxExplanationLength);

export const conditionPhaseSchema = z.enum(['unknown', 'clear', 'open']);

/** Open alert of a condition, as far as ticks need it. The alert's own record has the rest. */
export const openAlertSchema = z.object({
  alert_id: z.uuid(),
  opened_at: timestampSchema,
  /** Time of the first picture that showed it without one in between that did not, later by the gaps since. */
  seen_from: timestampSchema,
  /** Time of the newest verdict that held, or of a frame like one that did. */
  held_at: timestampSchema,
  /** Time of the first picture without it after `held_at`, or of the begin of a gap before that; `null` before. */
  clear_from: timestampSchema.nullable(),
  /** Time after `held_at` that nobody saw; absent without any. */
  unseen_seconds: z.number().nonnegative().optional(),
  /** Time of the last reminder; `null` before the first. */
  reminded_at: timestampSchema.nullable(),
  /** `null` until a caller acknowledges the alert. */
  acknowledged_at: timestampSchema.nullable(),
  /** True after a long time without sight: the alert stays open, without reminders. */
  unconfirmed: z.boolean(),
  /** Explanation of the newest verdict. */
  explanation: explanationSchema,
  /** Severity at the opening, which all events of the alert have. */
  severity: severitySchema,
  /** Retention at the opening, of the alert and its pictures. */
  retention_days: z.int(),
});
export type OpenAlert = z.infer<typeof openAlertSchema>;

/** Time for which a condition holds whose alert opens after a time. */
const holdingSchema = z.object({
  /** Time of the first picture that showed it. */
  since: timestampSchema,
  /** Verdicts in a row that denied it since. */
  denied: countSchema,
  /** Time since then that nobody saw. */
  unseen_seconds: z.number().nonnegative(),
});

/** Snoozes of a condition that its watch remembers: each commit of a tick writes them. */
export const maxSnoozes = 5;

/** State of one condition. Its size does not depend on the age of the watch. */
export const conditionStateSchema = z.object({
  condition_id: z.string(),
  /** Generation of the first tick that counts: a change made what ticks before it saw invalid. Absent: 0. */
  since_generation: countSchema.optional(),
  phase: conditionPhaseSchema,
  /**
   * Newest datapoints, newest last, at most as many as the rules of the condition consider: `1` holds, `0` does not
   * hold.
   */
  history: z.string().regex(/^[01]{0,10}$/),
  /** Time of the first picture that showed it since one that did not; absent if none did. */
  seen_from: timestampSchema.optional(),
  /** Present while it holds, confirmed by as many verdicts as an opening needs, if its alert opens after a time. */
  holding: holdingSchema.optional(),
  /** End of the newest time that nobody saw; absent without one since it is known whether it holds. */
  unseen_until: timestampSchema.optional(),
  /** Verdict about the picture that motion is compared with; absent if unknown. */
  reference_holds: z.boolean().optional(),
  /** Times of the datapoints in `history`, in seconds since 1970. */
  checked_at: z.array(countSchema).max(10),
  /** Time of the last sight: a datapoint, or a skip of the pre-filter. The begin of the watch before the first. */
  seen_at: timestampSchema,
  /** Present if and only if `phase` is `open`. */
  alert: openAlertSchema.nullable(),
  /** Time of the last opening, for the cooldown; it survives the closing. */
  last_opened_at: timestampSchema.nullable(),
  /** Until then no alert of the condition opens and none is repeated. */
  snoozed_until: timestampSchema.nullable(),
  /** Newest snoozes, oldest first; absent without any. */
  snoozes: z
    .array(z.object({ from: timestampSchema, to: timestampSchema }))
    .max(maxSnoozes)
    .optional(),
  /**
   * Checks in a row without a verdict. The next capture is judged without the pre-filter, until the model has answered
   * without one `maxUnjudged` times.
   */
  unjudged: countSchema,
  /** Consecutive joint model calls that left the condition out. From `maxLeftOut` on it has a call of its own. */
  left_out: countSchema,
});
export type ConditionState = z.infer<typeof conditionStateSchema>;

/** Statuses of a watch, in the order in which they apply. */
export const watchStatusSchema = z.enum([
  'paused',
  'off_schedule',
  'budget_exhausted',
  'stream_lost',
  'active',
]);
apiNames.add(watchStatusSchema, { id: 'WatchStatus' });
export type WatchStatus = z.infer<typeof watchStatusSchema>;

const causeSchema = z.object({ since: timestampSchema, reason: z.string() });
apiNames.add(causeSchema, { id: 'Cause' });

/**
 * Causes of a status that does not watch, besides a lost stream, which is part of the sight. Each is stored with its
 * start and reason, `null` if it does not apply.
 */
export const watchCausesSchema = z.object({
  paused: causeSchema.nullable(),
  off_schedule: causeSchema.nullable(),
  budget_exhausted: causeSchema.nullable(),
});
export type WatchCauses = z.infer<typeof watchCausesSchema>;

/**
 * Use of the day, also without a budget, which a caller may set later. Amounts of money in millionths of a US dollar.
 */
export const budgetStateSchema = z.object({
  /** Local date of the schedule's zone, or UTC. */
  day: z.iso.date(),
  calls: countSchema,
  micro_usd: countSchema,
  /** Calls of a model whose price is unknown; `micro_usd` lacks them. */
  unpriced_calls: countSchema,
  /** Worst case of the check under way, with the version of the watch in which it was committed before its calls. */
  reserved: z.object({ version: countSchema, calls: countSchema, micro_usd: countSchema }).nullable(),
  /** True after `budget_warning` of the day. */
  warned: z.boolean(),
});
export type BudgetState = z.infer<typeof budgetStateSchema>;

/** Maximum length of the error of a destination or of the model in state and events, in characters. */
export const maxErrorLength = 80;

/** Trouble of the service with a watch, beside that of its stream. Ticks find it and report its begin and end. */
export const watchHealthSchema = z.object({
  /** Planned time of the check that was late; `null` if checks are in time. */
  late_since: timestampSchema.nullable(),
  /** Destinations that accept nothing. */
  failing: z
    .array(
      z.object({
        destination_id: z.string(),
        since: timestampSchema,
        error: z.string().max(maxErrorLength),
      }),
    )
    .max(5),
  /**
   * View in which the regions were drawn, by `describeView`. Absent without regions, and until a picture shows enough
   * of one. `other`: since when it shows another.
   */
  view: z
    .object({
      drawn: z.string().length(viewLength),
      other: z.object({ since: timestampSchema, pictures: countSchema, told: z.boolean() }).nullable(),
    })
    .optional(),
  /** Unsure sightings by condition in the week since the first of them. Absent before one. */
  unsure: z.object({ since: timestampSchema, sightings: z.record(z.string(), countSchema) }).optional(),
});
export type WatchHealth = z.infer<typeof watchHealthSchema>;

/** State of a watch that its ticks write. With its sight at most 16 kB, packed 4 (`run-item.test.ts`). */
export const watchStateSchema = z.object({
  conditions: z.array(conditionStateSchema).max(8),
  /** Number of openings of all conditions; part of the next `alert_id`. */
  openings: countSchema,
  causes: watchCausesSchema,
  budget: budgetStateSchema.nullable(),
  health: watchHealthSchema,
  /** Failed executions in a row, which delay the next one. */
  failed_executions: countSchema,
});
export type WatchState = z.infer<typeof watchStateSchema>;

/** Numbers that a tick adds to the statistics of its hour and day. */
export const watchCountsSchema = z.object({
  ticks: countSchema,
  /** Verdicts: one per condition and check. */
  verdicts: countSchema,
  not_judged: countSchema,
  /** Captures that the model judged. */
  checks: countSchema,
  model_calls: countSchema,
  model_failures: countSchema,
  skipped: countSchema,
  frozen: countSchema,
  black: countSchema,
  stale: countSchema,
  failed_captures: countSchema,
  alerts_opened: countSchema,
  alerts_closed: countSchema,
  reminders: countSchema,
  input_tokens: countSchema,
  output_tokens: countSchema,
  micro_usd: countSchema,
  /** Calls of a model whose price is unknown; `micro_usd` lacks them. */
  unpriced_calls: countSchema,
  /** Milliseconds of the watch's active time since the last tick, with and without sight. */
  watched_ms: countSchema,
  gap_ms: countSchema,
});
export type WatchCounts = z.infer<typeof watchCountsSchema>;

export const alertCloseReasonSchema = z.enum([
  'cleared',
  'paused',
  'off_schedule',
  'changed',
  'removed',
  'deleted',
]);
export type AlertCloseReason = z.infer<typeof alertCloseReasonSchema>;

/** Time from the first picture that showed it to the last one, in seconds. */
export const seenSecondsSchema = z
  .number()
  .nonnegative()
  .describe('Seconds for which pictures showed it: from the first of the opening to the last');

/** Time for which the stream gave no picture just before the opening, in seconds; absent if it did. */
export const lostSecondsSchema = z.number().nonnegative().optional();

/** Verdict that counted for an opening. */
export const countedCheckSchema = z.object({ checked_at: timestampSchema, triggered: z.boolean() });
export type CountedCheck = z.infer<typeof countedCheckSchema>;

/** Stored alert. It contains everything that a reader needs, since watch and condition can change or be deleted. */
export const alertSchema = z.object({
  alert_id: z.uuid(),
  watch_id: z.uuid(),
  watch_name: z.string(),
  caller: z.string(),
  condition_id: z.string(),
  condition: z.string(),
  severity: severitySchema,
  labels: z.array(z.string()),
  opened_at: timestampSchema,
  /** Time of the first picture of its visit. Absent in older alerts. */
  seen_from: timestampSchema.optional(),
  /** Explanation of the verdict that opened it. */
  explanation: explanationSchema,
  checks: z.array(countedCheckSchema),
  /** Media key of the evidence; `null` if no frame was left. */
  frame_key: z.string().nullable(),
  /** Objects in the evidence that the condition names. Absent without any. */
  boxes: z.array(evidenceBoxSchema).optional(),
  prompt_version: promptVersionSchema.optional(),
  lost_seconds: lostSecondsSchema,
  /** Time by which the clock of the stream was behind, in seconds. Absent if it can be that of this service. */
  behind_seconds: z.number().positive().optional(),
  /** Absent until it is known. */
  clip: alertClipSchema.optional(),
  reminders: countSchema,
  acknowledged: z.object({ at: timestampSchema, by: z.string() }).nullable(),
  closed: z
    .object({
      at: timestampSchema,
      reason: alertCloseReasonSchema,
      explanation: explanationSchema,
      open_seconds: z.number().nonnegative(),
      seen_seconds: seenSecondsSchema,
      frame_key: z.string().nullable(),
    })
    .nullable(),
  review: z
    .object({ correct: z.boolean(), note: z.string(), at: timestampSchema, by: z.string() })
    .nullable(),
  /** `null` while the alert is open. */
  expires_at: timestampSchema.nullable(),
});
export type Alert = z.infer<typeof alertSchema>;

/** Change of alerts in the transaction of a tick or of a caller's change. */
export type AlertChange =
  | { kind: 'open'; alert: Alert }
  | { kind: 'remind'; alertId: string }
  | { kind: 'acknowledge'; alertId: string; acknowledged: NonNullable<Alert['acknowledged']> }
  | { kind: 'clip'; alertId: string; clip: AlertClip }
  | { kind: 'close'; alertId: string; closed: NonNullable<Alert['closed']>; expiresAt: string };

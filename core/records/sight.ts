import { z } from 'zod';
import { apiNames } from '../api-names.ts';
import { failureSchema, maxFailureLength } from './failure.ts';

const timestampSchema = z.iso.datetime();
const countSchema = z.int().nonnegative();

export const gapReasonSchema = z.enum(['stream', 'damaged', 'stale', 'model', 'service']);
export type GapReason = z.infer<typeof gapReasonSchema>;

/** Reason why a watch did not see, more exactly than in the gaps of jobs. */
export const spanReasonSchema = z.enum([...gapReasonSchema.options, 'budget', 'frozen', 'black', 'overload']);
export type SpanReason = z.infer<typeof spanReasonSchema>;

/** Interval without observation; its reason is the first failure in it. */
export const gapSchema = z.object({ from: timestampSchema, to: timestampSchema, reason: gapReasonSchema });
apiNames.add(gapSchema, { id: 'Gap' });
export type Gap = z.infer<typeof gapSchema>;

/**
 * Reasons of a lost stream: unreachable, no picture without a hole, no new segment, wrong password, ended or a
 * recording, or one image for too long.
 */
export const streamLossReasonSchema = z.enum([
  'unreachable',
  'damaged',
  'stale',
  'access_refused',
  'not_live',
  'frozen',
  'black',
]);
export type StreamLossReason = z.infer<typeof streamLossReasonSchema>;

/** Trouble of the stream or of the model. Its begin excludes the time for which the service was late. */
const troubleSchema = z.object({
  since: timestampSchema,
  /** True once it has lasted for the grace period. */
  lost: z.boolean(),
});

export const streamTroubleSchema = troubleSchema.extend({
  reason: streamLossReasonSchema,
  /** Captures in a row with this trouble, for growing waits. */
  captures: countSchema,
});
export type StreamTrouble = z.infer<typeof streamTroubleSchema>;

export const modelTroubleSchema = troubleSchema.extend({
  /** Model calls that failed in a row. */
  failures: countSchema,
  failure: failureSchema.extend({
    message: z.string().max(maxFailureLength),
    remediation: z.string().max(maxFailureLength),
  }),
});
export type ModelTrouble = z.infer<typeof modelTroubleSchema>;

/** Sight of a run: what its ticks have seen of the stream. */
export const sightSchema = z.object({
  /**
   * Time up to which the active time is counted as watched or as a gap; `null` before the start of a job and while a
   * watch is paused.
   */
  counted_until: timestampSchema.nullable(),
  /** First reason of the gap that is open since then; `null` without one. */
  in_gap: spanReasonSchema.nullable(),
  stream_trouble: streamTroubleSchema.nullable(),
  model_trouble: modelTroubleSchema.nullable(),
  /** First capture after the newest time without one, and that time; absent before the first. */
  regained: z.object({ at: timestampSchema, lost_seconds: z.number().nonnegative() }).optional(),
  skipped_in_a_row: countSchema,
  /** Duration of the newest check that called the model, from its capture to its decision; absent before the first. */
  check_seconds: z.number().nonnegative().optional(),
  /** Newest frame, judged or not, by its media key; `null` before the first capture. */
  last_frame: z
    .object({
      key: z.string(),
      captured_at: timestampSchema,
      /**
       * True if an event or a moment refers to the frame itself, so that it is not deleted. Alerts of watches refer to
       * a copy.
       */
      evidence: z.boolean(),
    })
    .nullable(),
  /** Facts of the newest scan; absent if captures do not scan the stream, or cannot. */
  scan: z
    .object({
      /** Longest time between two neighbouring frames; 0 if unknown. */
      distance_seconds: z.number().nonnegative(),
      left_out_seconds: z.number().nonnegative(),
    })
    .optional(),
});
export type Sight = z.infer<typeof sightSchema>;

/** Sight before the first tick. */
export const initialSight: Sight = {
  counted_until: null,
  in_gap: null,
  stream_trouble: null,
  model_trouble: null,
  skipped_in_a_row: 0,
  last_frame: null,
};

/**
 * Classes of the active time of a watch. Each second has one, so that judged + quiet + between pictures + not seen =
 * the time that the watch was to watch. `judged`: a model judged what moved. `quiet`: scanned, and nothing moved.
 * `between`: the stream was there, and nobody looked between two pictures, or not at all that moved. `not_seen`: a gap.
 */
export const spanClasses = ['judged', 'quiet', 'between', 'not_seen'] as const;
export type SpanClass = (typeof spanClasses)[number];

/** Part of the active time. `reason` is that of a gap, else `null`. */
export type Span = { from: Date; to: Date; class: SpanClass; reason: SpanReason | null };

/**
 * Seen part of an hour of a watch, as stored: its spans as text, and for each condition the seconds in which the model
 * did not judge it, and its unsure sightings. `sure`: longest of the shortest visits that were sure to be seen in it.
 */
export const seenHourSchema = z.object({
  spans: z.string(),
  unjudged: z.record(z.string(), z.number()).optional(),
  unsure: z.record(z.string(), z.number()).optional(),
  sure: z.number().optional(),
});
export type SeenHour = z.infer<typeof seenHourSchema>;

export type SeenAddition = {
  spans: readonly Span[];
  unjudged: Readonly<Record<string, number>>;
  unsure?: Readonly<Record<string, number>>;
  sure?: number | undefined;
};

import { z } from 'zod';
import type { SpanReason } from './sight.ts';

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

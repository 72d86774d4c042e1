import { z } from 'zod';

/** What a digest remembers from tick to tick. */

const countSchema = z.int().nonnegative();

/** A picture that a summary is made of: its key in the media store, and when it was taken. */
export const sampleSchema = z.object({ frame_key: z.string(), captured_at: z.iso.datetime() });
export type StoredSample = z.infer<typeof sampleSchema>;

/** Why captures were left out of a window, and how often. */
export const skippedSchema = z.object({
  no_motion: countSchema,
  frozen: countSchema,
  black: countSchema,
  repeated: countSchema,
});

/** What was taken in a window so far. */
export const windowSchema = z.object({
  /** From 1. */
  index: z.int().positive(),
  frames_captured: countSchema,
  skipped: skippedSchema,
  /** In time order; thinned out evenly where there are more than `maxSamplesPerWindow`. */
  samples: z.array(sampleSchema),
});
export type DigestWindow = z.infer<typeof windowSchema>;

export const digestStateSchema = z.object({
  /** Windows whose summaries are in the log. */
  summarized: countSchema,
  /** Windows that are not summarised yet, oldest first, without those in which nothing was taken. */
  windows: z.array(windowSchema),
  /** When the stream said that it is over, while the last summaries are still owed. The default is for records of before. */
  stream_ended_at: z.iso.datetime().nullable().default(null),
});
export type DigestState = z.infer<typeof digestStateSchema>;

export const initialDigestState: DigestState = { summarized: 0, windows: [], stream_ended_at: null };

export function emptyWindow(index: number): DigestWindow {
  return {
    index,
    frames_captured: 0,
    skipped: { no_motion: 0, frozen: 0, black: 0, repeated: 0 },
    samples: [],
  };
}

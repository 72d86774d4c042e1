import { z } from 'zod';

const countSchema = z.int().nonnegative();

/** Frame kept for a summary: media key and capture time. */
export const sampleSchema = z.object({ frame_key: z.string(), captured_at: z.iso.datetime() });
export type StoredSample = z.infer<typeof sampleSchema>;

/** Number of skipped captures in a window, by reason. */
export const skippedSchema = z.object({
  no_motion: countSchema,
  frozen: countSchema,
  black: countSchema,
  repeated: countSchema,
});

/** Captures of a window so far. */
export const windowSchema = z.object({
  /** Starts at 1. */
  index: z.int().positive(),
  frames_captured: countSchema,
  skipped: skippedSchema,
  /** In time order, at most `maxSamplesPerWindow`; above it, samples are removed evenly. */
  samples: z.array(sampleSchema),
});
export type DigestWindow = z.infer<typeof windowSchema>;

/** State of a digest, carried from tick to tick. */
export const digestStateSchema = z.object({
  /** Number of windows with a summary in the log. */
  summarized: countSchema,
  /** Windows without a summary, oldest first. Windows without captures are absent. */
  windows: z.array(windowSchema),
  /** Time when the stream ended, while its last summaries are pending. The default covers records of earlier releases. */
  stream_ended_at: z.iso.datetime().nullable().default(null),
});
export type DigestState = z.infer<typeof digestStateSchema>;

export const initialDigestState: DigestState = { summarized: 0, windows: [], stream_ended_at: null };

/** Creates a window without captures. */
export function emptyWindow(index: number): DigestWindow {
  return {
    index,
    frames_captured: 0,
    skipped: { no_motion: 0, frozen: 0, black: 0, repeated: 0 },
    samples: [],
  };
}

import { z } from 'zod';
import { failureSchema } from '../../records/failure.ts';
import { gapSchema } from '../../records/sight.ts';
import { stopReasonSchema } from '../../records/stop-reason.ts';
import { count, envelope, frameUrl, jpegBase64, placeEvent, timestamp } from '../../responses/fields.ts';
import type { EventPlace } from '../../responses/fields.ts';
import type { Mover } from '../../time.ts';

/** Configuration of a digest, after defaults. */
const config = z.object({
  window_minutes: z.int(),
  capture_interval_seconds: z.int(),
  /** `null`: no limit but the duration. */
  max_windows: z.int().nullable(),
  /** Maximum runtime in seconds: the length of `max_windows` windows, or the server's cap. */
  digest_duration_seconds: z.int(),
  input_mode: z.literal('frames'),
  include_frames: z.boolean(),
  enable_prefilter: z.boolean(),
});
export type DigestConfig = z.infer<typeof config>;

/** Frame kept for a summary: media key and capture time. */
export const sampleSchema = z.object({ frame_key: z.string(), captured_at: z.iso.datetime() });
export type StoredSample = z.infer<typeof sampleSchema>;

/** Captures of a window so far. */
const windowSchema = z.object({
  /** Starts at 1. */
  index: z.int().positive(),
  frames_captured: count,
  /** Number of skipped captures, by reason. */
  skipped: z.object({ no_motion: count, frozen: count, black: count, repeated: count }),
  /** In time order, at most `maxSamplesPerWindow`; above it, samples are removed evenly. */
  samples: z.array(sampleSchema),
});
export type DigestWindow = z.infer<typeof windowSchema>;

/** End of a digest: the time up to which it has windows, and how the job ends with the last of them. */
export const digestEndSchema = z.object({
  at: z.iso.datetime(),
  reason: stopReasonSchema,
  /** Present if the job fails. */
  failure: failureSchema.optional(),
});
export type DigestEnd = z.infer<typeof digestEndSchema>;

/** State of a digest, carried from tick to tick. */
const state = z.object({
  /** Number of windows with a summary in the log. */
  summarized: count,
  /** Windows without a summary, oldest first. Windows without captures are absent. */
  windows: z.array(windowSchema),
  /** End of the digest while its last windows are pending: from `at` on nothing is captured. */
  end: digestEndSchema.nullable(),
});
export type DigestState = z.infer<typeof state>;

const initialState: DigestState = { summarized: 0, windows: [], end: null };

/** Creates a window without captures. */
export function emptyWindow(index: number): DigestWindow {
  return {
    index,
    frames_captured: 0,
    skipped: { no_motion: 0, frozen: 0, black: 0, repeated: 0 },
    samples: [],
  };
}

const summary = {
  window_index: z.int().positive().describe('Number of the window; starts at 1'),
  window_start: timestamp,
  window_end: timestamp,
  partial: z.boolean().describe('True if the job ended before the window'),
  summary: z.string().describe('Summary of the window'),
  frames_captured: count,
  frames_skipped: count,
  gaps: z.array(gapSchema).describe('Intervals of the window without observation'),
};

/** The media key of the frame grid is absent if it is not requested, or if the window has no samples. */
const stored = z.object({ ...summary, frame_grid_key: z.string().optional() });
const linked = envelope('summary_generated', { ...summary, frame_grid_url: frameUrl.optional() });
const streamed = envelope('summary_generated', {
  ...summary,
  frame_grid_b64: jpegBase64
    .nullable()
    .optional()
    .describe(
      'Frame grid of the samples as base64 JPEG; absent unless include_frames is true, null if it has expired',
    ),
});
type Summary = z.infer<typeof stored>;

export const digestRecords = {
  name: 'Digest',
  fields: { policy: z.literal('digest'), config, state },
  initialState,
  intervalSeconds: ({ capture_interval_seconds: seconds }: DigestConfig) => seconds,
  durationSeconds: ({ digest_duration_seconds: seconds }: DigestConfig) => seconds,
  sightEnd: ({ end }: DigestState) => end && end.at,
  mapTimes: ({ windows, end, ...rest }: DigestState, { past, other }: Mover) => ({
    ...rest,
    windows: windows.map((window) => ({
      ...window,
      samples: window.samples.map((sample) => ({ ...sample, captured_at: other(sample.captured_at) })),
    })),
    end: end && { ...end, at: past(end.at) },
  }),
  events: {
    summary_generated: {
      streamName: 'summary',
      stored: z.object({ type: z.literal('summary_generated'), data: stored }),
      linked,
      streamed,
      imageKey: ({ frame_grid_key: key }: Summary) => key,
      toLinked: ({ frame_grid_key: key, ...data }: Summary, place: EventPlace, url: string) =>
        placeEvent('summary_generated', place, {
          ...data,
          ...(key !== undefined && { frame_grid_url: url }),
        }),
      toStreamed: ({ frame_grid_key: key, ...data }: Summary, place: EventPlace, image: string | null) =>
        placeEvent('summary_generated', place, {
          ...data,
          ...(key !== undefined && { frame_grid_b64: image }),
        }),
    },
  },
  findings: { type: 'summary_generated', name: 'summaries' },
  lists: { summaries: z.array(linked).optional().describe('Newest 50 summaries; digests only') },
  numbers: {
    windows_summarized: count.optional().describe('Number of windows with a summary; digests only'),
  },
  toNumbers: ({ summarized }: DigestState) => ({ windows_summarized: summarized }),
} as const;

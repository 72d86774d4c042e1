import { z } from 'zod';
import type { Platform } from './platform.ts';

/** What is taken from the stream in a tick (glossary: capture). */

export const inputModeSchema = z.enum(['frames', 'clip', 'hybrid']);
export type InputMode = z.infer<typeof inputModeSchema>;

/** Width and height of a thumbnail in pixels, and its length in bytes: planar yuv420p, 160·90·3/2. */
export const thumbnail = { width: 160, height: 90, bytes: 21_600 } as const;

/**
 * Where in the stream a capture was taken, to tell a stream that moves on from one that stands still.
 * HLS: the identity of the newest segment used, and its target duration. RTSP: no identity; every capture is new.
 */
export const streamPositionSchema = z.object({
  /** Media sequence number of the newest segment, with a hash of what identifies its URL; null where the protocol has none (RTSP). */
  segment: z.string().nullable(),
  /** How often a healthy stream brings a new segment, in seconds. */
  segment_seconds: z.number().nonnegative(),
});
export type StreamPosition = z.infer<typeof streamPositionSchema>;

export type CaptureRequest = {
  url: string;
  mode: InputMode;
  clipSeconds: number;
  /** Resolve the URL anew rather than from memory: the last capture failed. */
  resolveAgain: boolean;
};

/** One capture in memory. `clip` is present in modes clip and hybrid. */
export type Capture = {
  /** JPEG, at most 896 px wide. In every mode: it is the evidence picture. */
  frame: Uint8Array;
  /** H.264 MP4 without audio, at most 672 px wide. */
  clip?: Uint8Array;
  /** Planar yuv420p of `thumbnail` size, of the same moment as `frame`. */
  thumbnail: Uint8Array;
  /** When the picture was taken: program date-time where the stream has one, else the moment of fetching. */
  capturedAt: Date;
  position: StreamPosition;
};

/** What a platform tells of a stream. */
export type StreamDetails = {
  streamId?: string;
  title?: string;
  channel?: string;
  thumbnailUrl?: string;
  viewers?: number;
};

/** What a live stream is, as far as its source tells. */
export type StreamProbe = {
  platform: Platform;
  /** The URL that plays it: for HLS and RTSP the given URL without credentials, for platforms the public page. */
  playbackUrl: string;
  details?: StreamDetails;
};

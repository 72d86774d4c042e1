import { z } from 'zod';
import { apiNames } from '../api-names.ts';
import type { Platform } from './platform.ts';

const timestampSchema = z.iso.datetime();

/** Media of a capture: `frames` is one frame, `clip` a short clip, `hybrid` both. */
export const inputModeSchema = z.enum(['frames', 'clip', 'hybrid']);
apiNames.add(inputModeSchema, { id: 'InputMode' });
export type InputMode = z.infer<typeof inputModeSchema>;

/** Polygon in relative coordinates, 0 to 1 from the top left. */
export const regionSchema = z.object({
  mode: z.enum(['include', 'exclude']),
  points: z.array(z.array(z.number())),
});
apiNames.add(regionSchema, { id: 'Region' });
export type Region = z.infer<typeof regionSchema>;

/** Width and height of a thumbnail in pixels, and its size in bytes (planar yuv420p: 160·90·3/2). */
export const thumbnail = { width: 160, height: 90, bytes: 21_600 } as const;

/**
 * Position of a capture in the stream, to detect repeated captures and stale streams. HLS: identity of the newest
 * segment, of a frame without a scan that of its key frame, and the target duration. Single pictures: a hash of their
 * bytes. RTSP and Motion JPEG: no identity, because every capture is new.
 */
export const streamPositionSchema = z.object({
  /**
   * Media sequence number of the newest segment, with hashes of its URL and bytes; hash of a single picture; `null` if
   * the protocol has none.
   */
  segment: z.string().nullable(),
  /** Time between new segments of a healthy stream, in seconds. */
  segment_seconds: z.number().nonnegative(),
  /**
   * Position up to which captures that look back have scanned the stream. Only the capturer reads it. Absent without a
   * scan.
   */
  scan: z.string().max(200).optional(),
});
export type StreamPosition = z.infer<typeof streamPositionSchema>;

/** Progress of the stream in the last captures, carried from tick to tick. */
export const streamFreshnessSchema = z.object({
  position: streamPositionSchema,
  /** Time of the first capture at this position. */
  since: timestampSchema,
  /** Start of the current run of identical frames; `null` if the last two differ. */
  identical_since: timestampSchema.nullable(),
  /** Time of the last capture, by the clock of this service. */
  seen_at: timestampSchema,
});
export type StreamFreshness = z.infer<typeof streamFreshnessSchema>;

/** State of the stream's last captures, which the next capture is compared with. */
export const captureStateSchema = z.object({
  seen: streamFreshnessSchema.nullable(),
  motion: z.string().nullable(),
});
export type CaptureState = z.infer<typeof captureStateSchema>;

/** Input of a capture. `clipSeconds` is ignored in mode frames. */
export type CaptureRequest = {
  url: string;
  mode: InputMode;
  clipSeconds: number;
  /** True after a failed capture: resolves the URL again instead of using the cache. */
  resolveAgain: boolean;
  /** Regions to draw into frame and clip. The thumbnail stays whole. */
  regions?: readonly Region[] | null;
  /** True to wait some seconds for the next key frame of an open RTSP session, whose distance the capture has then. */
  measuresKeyFrames?: boolean;
  /**
   * Present to scan the stream since a position of an earlier capture (`position.scan`), `null` before the first one.
   */
  lookBack?: { since: string | null };
  /**
   * Time before the capture whose stream is kept for clips, in seconds: that of a clip, and the interval. Absent: none
   * is.
   */
  clipBeforeSeconds?: number;
  /** Caller for whom the stream is read: what its servers answer is kept for this caller only. */
  caller: string;
};

/** Stream to follow after a capture at the position `after`. */
export type FollowRequest = Pick<CaptureRequest, 'url' | 'caller'> & { after: StreamPosition | null };

/**
 * Frame that a scan found before the frame of the capture. The port `FramePictures` reads its picture. `at` is on the
 * clock of `Capture.capturedAt`.
 */
export type ScannedFrame = { at: Date; thumbnail: Uint8Array };

/** View of the stream since an earlier capture. Times in seconds. */
export type Scan = {
  /** Frames since then, oldest first, without the frame of the capture itself. */
  frames: readonly ScannedFrame[];
  /** Time before the frame of the capture that the scan saw without a hole. */
  coveredSeconds: number;
  /** Time since then that it left out, because of its bounds or of segments that are gone. */
  leftOutSeconds: number;
  /** Longest time between two neighbouring frames, that of the capture included; 0 if unknown. */
  distanceSeconds: number;
  /** True if the frame of the capture was there at the position before already: it is not judged again. */
  isSeen?: boolean;
};

/** Result of a capture. `clip` is present in modes clip and hybrid. */
export type Capture = {
  /** JPEG, at most 896 px wide. Present in every mode, because it is the evidence. */
  frame: Uint8Array;
  /** H.264 MP4 without audio, at most 672 px wide. */
  clip?: Uint8Array;
  /** Planar yuv420p of `thumbnail` size, scaled from the same image as `frame`. */
  thumbnail: Uint8Array;
  /** Program date-time of the frame; the time of the request if the stream has none. */
  capturedAt: Date;
  position: StreamPosition;
  /** Present if the request looks back. */
  scan?: Scan;
  /** True if `position.segment_seconds` is assumed, because the stream does not state it. */
  isIntervalAssumed?: boolean | undefined;
  /**
   * Time between key frames as far as the capture shows it, in seconds: they are at least as far apart. Absent if
   * unknown.
   */
  keyFrameSeconds?: number;
};

/** Metadata of a stream from its platform; fields are absent if unknown. */
export type StreamDetails = {
  streamId?: string;
  title?: string;
  channel?: string;
  thumbnailUrl?: string;
  viewers?: number;
};

export type StreamProbe = {
  platform: Platform;
  /** Playback URL. HLS and RTSP: the given URL without credentials. Platforms: the public page. */
  playbackUrl: string;
  /** True if the stream gives single pictures, too few for clips. */
  framesOnly?: boolean | undefined;
  details?: StreamDetails;
};

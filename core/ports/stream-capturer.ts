import type { ClipRequest, ClipResult } from '../records/clip.ts';
import type {
  Capture,
  CaptureRequest,
  FollowRequest,
  StreamProbe,
  ScannedFrame,
} from '../records/capture.ts';
import type { Sample } from './vision-model.ts';
import type { EvidenceBox } from '../records/vision.ts';

/**
 * Reader of live streams; no other dependency reads their bytes. Throws `InvalidUrlError`, `NotLiveError` (also if the
 * stream signals its end) and `StreamFetchError`. Has its own limits of bytes and time; `signal` aborts earlier.
 */
export interface StreamCapturer {
  /** Checks for a caller that the stream exists and is live. */
  probe(url: string, signal: AbortSignal, caller: string): Promise<StreamProbe>;
  capture(request: CaptureRequest, signal: AbortSignal): Promise<Capture>;
  /**
   * Follows a stream between two captures: calls `onFrame` with the thumbnails of new key frames. Returns when the
   * stream cannot be followed any more. Throws like `capture`, and the abort reason. Absent on hosts that only capture.
   */
  follow?(
    request: FollowRequest,
    onFrame: (thumbnail: Uint8Array) => void,
    signal: AbortSignal,
  ): Promise<void>;
  /**
   * Reads a part of a stream around a capture, as fragmented MP4 without audio. Throws like `capture`. Absent on hosts
   * that keep no stream.
   */
  clip?(request: ClipRequest, signal: AbortSignal): Promise<ClipResult>;
}

/** Reader of the pictures of frames that a scan found, while its capture is in memory. */
export interface FramePictures {
  /** Returns a frame for the model, as `Capture.frame`; `null` if the stream does not have it any more. */
  picture(
    frame: ScannedFrame,
    request: Pick<CaptureRequest, 'caller' | 'regions'>,
    signal: AbortSignal,
  ): Promise<Uint8Array | null>;
}

/** Reader of live streams that looks back. */
export type ScanningCapturer = StreamCapturer & FramePictures;

/** Layout of a contact sheet. Tiles are 16:9; frames of another aspect ratio get bars. */
type SheetLayout = { columns: number; tileWidthPixels: number };

/** Maximum tiles of a sheet for a model. 3×3 tiles of 448 px give 1352 px, which models hardly scale down. */
export const maxTiles = 9;

/** Creates contact sheets, for models that accept fewer images than a window has samples. */
export interface ContactSheets {
  /**
   * Returns one JPEG of all samples in order, in rows from the top left, each with its time of day (UTC) in a corner. A
   * sample that cannot be decoded is crossed out. Throws `VisionError` if none can be decoded, or if `signal` aborts.
   */
  make(samples: Sample[], layout: SheetLayout, signal: AbortSignal): Promise<Uint8Array>;
}

/** Returns a copy of a JPEG with the boxes drawn. Returns the JPEG itself if it cannot be drawn. */
export type DrawBoxes = (
  jpeg: Uint8Array,
  boxes: readonly EvidenceBox[],
  signal: AbortSignal,
) => Promise<Uint8Array>;

/** Returns the frame of a clip (MP4) at a time, as JPEG, or null if the clip cannot be decoded. */
export type CutFrame = (
  clip: Uint8Array,
  atSeconds: number,
  signal: AbortSignal,
) => Promise<Uint8Array | null>;

/**
 * Limit of concurrent probes and captures. Callers take turns: many waiting calls of one caller do not delay the first
 * call of another.
 */
export interface StreamTurns {
  /** Waits for a turn. Returns undefined after the timeout; throws the abort reason. */
  take(caller: string, signal?: AbortSignal): Promise<StreamTurn | undefined>;
}

/** Turns without a limit, for hosts that run and limit captures elsewhere. */
export const unlimitedTurns: StreamTurns = { take: async () => ({ end: () => undefined }) };

/** Permit for one probe or capture. */
export type StreamTurn = {
  /** Ends the turn. Repeatable. */
  end(): void;
};

import type { CaptureRequest, ScannedFrame } from '../records/capture.ts';
import type { StreamCapturer } from './stream-capturer.ts';
import type { Sample } from './vision-model.ts';
import type { EvidenceBox } from '../records/vision.ts';

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

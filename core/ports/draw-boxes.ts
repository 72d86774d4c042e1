import type { EvidenceBox } from '../records/vision.ts';

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

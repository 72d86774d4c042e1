import type { EvidenceBox } from '../records/vision.ts';

/** Returns a copy of a JPEG with the boxes drawn. Returns the JPEG itself if it cannot be drawn. */
export type DrawBoxes = (
  jpeg: Uint8Array,
  boxes: readonly EvidenceBox[],
  signal: AbortSignal,
) => Promise<Uint8Array>;

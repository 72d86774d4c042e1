import type { Sample } from './vision-model.ts';

/** Tiles are 16:9; a picture of another shape has bars beside it. */
export type SheetLayout = { columns: number; tileWidthPixels: number };

/** Puts pictures side by side on one, where a model takes fewer pictures than there are. */
export interface ContactSheets {
  /**
   * One JPEG with all samples in their order, by rows from the top left, each with its time of day (UTC) in its corner.
   * One that cannot be decoded is crossed out. Throws `VisionError` where none can, or `signal` ends it.
   */
  make(samples: Sample[], layout: SheetLayout, signal: AbortSignal): Promise<Uint8Array>;
}

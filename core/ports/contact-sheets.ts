import type { Sample } from './vision-model.ts';

/** Layout of a contact sheet. Tiles are 16:9; frames of another aspect ratio get bars. */
export type SheetLayout = { columns: number; tileWidthPixels: number };

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

import { selectEvenly } from '../../core/policies/digest/summarize-windows.ts';
import { type ContactSheets, maxTiles } from '../../core/ports/frame-pictures.ts';
import type { Sample } from '../../core/ports/vision-model.ts';
import { mapConcurrently } from './map-concurrently.ts';

/** Image for the model: one sample, or a contact sheet of several. */
export type ModelImage = { jpeg: Uint8Array; times: Date[] };

const tileWidthPixels = 448;
/**
 * Maximum concurrent contact sheets. On AWS each is a call of `capture`; 20 sequential ones would exceed the 10 s
 * that a DELETE has for its summary. Each holds up to nine decoded images and takes one Lambda execution of the
 * account.
 */
const sheetsAtOnce = 4;

/**
 * Arranges the samples of a window on at most `maxImages` images: one each if possible, otherwise contact sheets
 * with as few tiles as possible. Drops samples evenly if they still do not fit. Throws `VisionError`.
 */
export async function arrangeSamples(
  samples: Sample[],
  maxImages: number,
  sheets: ContactSheets,
  signal: AbortSignal,
): Promise<ModelImage[]> {
  if (samples.length <= maxImages)
    return samples.map(({ frame, capturedAt }) => ({ jpeg: frame, times: [capturedAt] }));
  const tiles = Math.min(maxTiles, Math.ceil(samples.length / maxImages));
  const chosen = selectEvenly(samples, tiles * maxImages);
  const layout = { columns: Math.ceil(Math.sqrt(tiles)), tileWidthPixels };
  return mapConcurrently(inGroups(chosen, tiles), sheetsAtOnce, async (together) => ({
    jpeg: await sheets.make(together, layout, signal),
    times: together.map(({ capturedAt }) => capturedAt),
  }));
}

function inGroups(samples: Sample[], size: number): Sample[][] {
  const count = Math.ceil(samples.length / size);
  return Array.from({ length: count }, (_, index) => samples.slice(index * size, (index + 1) * size));
}

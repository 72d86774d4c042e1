import { spreadSamples } from '../../core/digest/spread-samples.ts';
import type { ContactSheets } from '../../core/ports/contact-sheets.ts';
import type { Sample } from '../../core/ports/vision-model.ts';

/** What a model is shown in one picture: one sample, or several on a contact sheet. */
export type ShownPicture = { jpeg: Uint8Array; times: Date[] };

/** Three by three tiles of 448 px make a sheet of 1352 px, which no model scales down by much. */
const tilesASheet = 9;
const tileWidthPixels = 448;

/**
 * A window's samples on as many pictures as the model takes: each for itself while they are few enough, else on contact sheets with as
 * few tiles as possible. What does not fit on those either is left out evenly. Throws `VisionError`.
 */
export async function arrangeSamples(
  samples: Sample[],
  mostPictures: number,
  sheets: ContactSheets,
  signal: AbortSignal,
): Promise<ShownPicture[]> {
  if (samples.length <= mostPictures)
    return samples.map(({ frame, capturedAt }) => ({ jpeg: frame, times: [capturedAt] }));
  const tiles = Math.min(tilesASheet, Math.ceil(samples.length / mostPictures));
  const chosen = spreadSamples(samples, tiles * mostPictures);
  const layout = { columns: Math.ceil(Math.sqrt(tiles)), tileWidthPixels };
  const pictures: ShownPicture[] = [];
  for (let first = 0; first < chosen.length; first += tiles) {
    const together = chosen.slice(first, first + tiles);
    pictures.push({
      jpeg: await sheets.make(together, layout, signal),
      times: together.map(({ capturedAt }) => capturedAt),
    });
  }
  return pictures;
}

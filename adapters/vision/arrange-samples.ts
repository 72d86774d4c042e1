import { spreadSamples } from '../../core/digest/spread-samples.ts';
import type { ContactSheets } from '../../core/ports/contact-sheets.ts';
import type { Sample } from '../../core/ports/vision-model.ts';
import { mapAtOnce } from './map-at-once.ts';

/** What a model is shown in one picture: one sample, or several on a contact sheet. */
export type ShownPicture = { jpeg: Uint8Array; times: Date[] };

/** Three by three tiles of 448 px make a sheet of 1352 px, which no model scales down by much. */
const tilesASheet = 9;
const tileWidthPixels = 448;
/**
 * On AWS a sheet is a call of `capture`. The 20 of a large window, one after the other, would not leave a DELETE the time for its summary, which is
 * 10 s in all. Not more at once: each holds up to nine decoded pictures, and takes one of the account's executions.
 */
const sheetsAtOnce = 4;

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
  return mapAtOnce(inGroups(chosen, tiles), sheetsAtOnce, async (together) => ({
    jpeg: await sheets.make(together, layout, signal),
    times: together.map(({ capturedAt }) => capturedAt),
  }));
}

function inGroups(samples: Sample[], size: number): Sample[][] {
  const count = Math.ceil(samples.length / size);
  return Array.from({ length: count }, (_, at) => samples.slice(at * size, (at + 1) * size));
}

import type { CoreDeps } from '../dependencies.ts';
import type { CheckMedia } from '../ports/vision-model.ts';
import type { InputMode, Region } from '../records/capture.ts';
import type { Captured } from '../sight/screening.ts';

/** Media of a check, by their keys. */
export type CheckMediaKeys = {
  captured: Captured;
  mode: InputMode;
  regions?: Region[] | null;
  /** Key of the newest frame before the capture. */
  previousKey: string | undefined;
};

/** Reads the media of a check. Returns undefined if they were removed. */
export async function readCheckMedia(
  { captured: { frame_key, clip_key }, mode, regions, previousKey }: CheckMediaKeys,
  { media, vision }: Pick<CoreDeps, 'media' | 'vision'>,
): Promise<CheckMedia | undefined> {
  const frame = await media.get(frame_key);
  const clip = clip_key === null ? undefined : await media.get(clip_key);
  if (!frame || (clip_key !== null && !clip)) return undefined;
  const previous =
    vision.usesPrevious && previousKey !== undefined ? await media.get(previousKey) : undefined;
  return {
    mode,
    frame,
    ...(clip ? { clip } : {}),
    ...(previous ? { previous } : {}),
    ...(regions !== undefined && { regions }),
  };
}

import type { CoreDeps } from '../dependencies.ts';
import type { CheckMedia } from '../ports/vision-model.ts';
import type { InputMode, Region } from '../records/capture.ts';
import type { Captured } from '../sight/screening.ts';

export type CheckMediaKeys = {
  captured: Captured;
  mode: InputMode;
  regions?: Region[] | null;
  /** True to have the frames described. */
  describes?: boolean;
  /** Key of the newest frame before the capture. */
  previousKey: string | undefined;
  /** Earlier moments of the capture that are checked too, oldest first. Absent: its newest frame alone. */
  moments?: readonly { frame_key: string; captured_at: string }[] | undefined;
};

export type EarlierMoment = { frame: Uint8Array; at: Date; frame_key: string };

/**
 * Media of a check, with those of earlier moments, oldest first. `at` is the time of the newest frame; a black one is
 * not judged.
 */
export type MomentMedia = CheckMedia & { at: Date; black?: boolean; moments?: readonly EarlierMoment[] };

/**
 * Reads the media of a check. Returns undefined if they were removed; an earlier moment without its frame is left out.
 */
export async function readCheckMedia(
  {
    captured: { frame_key, clip_key, captured_at, black },
    mode,
    regions,
    describes,
    previousKey,
    moments = [],
  }: CheckMediaKeys,
  { media, vision }: Pick<CoreDeps, 'media' | 'vision'>,
): Promise<MomentMedia | undefined> {
  const frame = await media.get(frame_key);
  const clip = clip_key === null ? undefined : await media.get(clip_key);
  if (!frame || (clip_key !== null && !clip)) return undefined;
  const previous =
    vision.capabilities.usesPrevious && previousKey !== undefined ? await media.get(previousKey) : undefined;
  const earlier = await Promise.all(
    moments.map(async (moment) => ({
      frame_key: moment.frame_key,
      at: new Date(moment.captured_at),
      frame: await media.get(moment.frame_key),
    })),
  );
  const kept = earlier.flatMap(({ frame: bytes, ...moment }) => (bytes ? { ...moment, frame: bytes } : []));
  if (black && kept.length === 0) return undefined;
  return {
    mode,
    frame,
    at: new Date(captured_at),
    black,
    moments: kept,
    ...(clip ? { clip } : {}),
    ...(previous ? { previous } : {}),
    ...(regions !== undefined && { regions }),
    ...(describes && { describes }),
  };
}

import type { CoreDeps } from '../../dependencies.ts';
import type { CheckMedia } from '../../ports/vision-model.ts';
import type { WatchRun } from '../../records/watch-run.ts';

type Deps = Pick<CoreDeps, 'media' | 'vision'>;

/** Reads the media of a check. Returns undefined if they were removed. */
export async function readCheckMedia(
  { config, sight }: WatchRun,
  { frame_key, clip_key }: { frame_key: string; clip_key: string | null },
  { media, vision }: Deps,
): Promise<CheckMedia | undefined> {
  const frame = await media.get(frame_key);
  const clip = clip_key === null ? undefined : await media.get(clip_key);
  if (!frame || (clip_key !== null && !clip)) return undefined;
  const earlier = vision.usesPrevious ? sight.last_frame?.key : undefined;
  const previous = earlier === undefined ? undefined : await media.get(earlier);
  return {
    mode: config.input_mode,
    frame,
    ...(clip ? { clip } : {}),
    ...(previous ? { previous } : {}),
    regions: config.regions,
  };
}

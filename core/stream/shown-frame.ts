import type { CoreDeps } from '../dependencies.ts';
import type { MediaStore } from '../ports/media-store.ts';
import type { EvidenceBox } from '../records/vision.ts';

/** Host that can cut frames out of clips. */
export type CutDeps = Pick<CoreDeps, 'cutFrame'>;

/** Time to cut a frame, or to draw its boxes. */
const pictureTimeoutMs = 5000;

/**
 * Returns the key of a frame of the clip, beside the frame of its capture: `captures/<source>/<tick>-<id>-at-2500.jpg`.
 */
export function toShownKey(frameKey: string, atSeconds: number): string {
  return frameKey.replace(/\.jpg$/, `-at-${Math.round(atSeconds * 1000)}.jpg`);
}

/** Returns the frame that shows the condition: the one of the clip at this time, or that of the capture. */
export async function readShownFrame(
  { frame, clip }: { frame: Uint8Array; clip?: Uint8Array | undefined },
  atSeconds: number | undefined,
  { cutFrame }: CutDeps,
): Promise<Uint8Array> {
  if (atSeconds === undefined || clip === undefined || cutFrame === undefined) return frame;
  return (await cutFrame(clip, atSeconds, AbortSignal.timeout(pictureTimeoutMs))) ?? frame;
}

/**
 * Stores the frame that shows the condition as evidence. A clip that cannot be decoded gives way to the frame of the
 * capture.
 */
export async function storeShownFrame(
  key: string,
  { frame_key, clip_key }: { frame_key: string; clip_key: string | null },
  atSeconds: number | undefined,
  deps: CutDeps & { media: Pick<MediaStore, 'get' | 'put'> },
): Promise<void> {
  const frame = await deps.media.get(frame_key);
  const clip = clip_key === null ? undefined : await deps.media.get(clip_key);
  if (frame) await deps.media.put(key, await readShownFrame({ frame, clip }, atSeconds, deps), 'image/jpeg');
}

/** Reads a frame, with boxes drawn where the host draws them; `null` if it is gone. */
export async function readFrame(
  key: string,
  boxes: readonly EvidenceBox[],
  { media, drawBoxes }: Pick<CoreDeps, 'drawBoxes'> & { media: Pick<MediaStore, 'get'> },
): Promise<Uint8Array | null> {
  const frame = await media.get(key);
  if (!frame || boxes.length === 0 || !drawBoxes) return frame ?? null;
  return drawBoxes(frame, boxes, AbortSignal.timeout(pictureTimeoutMs));
}

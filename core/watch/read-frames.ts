import type { CoreDeps } from '../dependencies.ts';
import { WatchpostError } from '../errors.ts';
import { requireOwnWatch, type WatchDeps } from './commit-watch.ts';
import { requireOwnAlert } from './control-watch.ts';
import { withoutClip } from '../records/clip.ts';
import { readFrame } from '../stream/shown-frame.ts';
import { openMedia, type MediaFile } from '../ports/media-store.ts';

type Deps = Pick<WatchDeps, 'runs' | 'media' | 'now'>;

const whyGone = 'its retention is over, or the pictures of the machine reached their maximum';
const howLong =
  'Evidence is kept for retention_days of the watch, and at most WATCHPOST_MEDIA_MB of it on one machine.';

/** Reads the newest frame of an own watch, as JPEG. Throws `NOT_FOUND` before the first, or if it has expired. */
export async function readWatchFrame(watchId: string, caller: string, deps: Deps): Promise<Uint8Array> {
  const read = async () => (await requireOwnWatch(watchId, caller, deps)).sight.last_frame?.key;
  const key = await read();
  const frame = key === undefined ? undefined : await deps.media.get(key);
  if (frame) return frame;
  // A tick that was committed in between has removed it: then there is a newer one.
  const newer = await read();
  const newest = newer === undefined || newer === key ? undefined : await deps.media.get(newer);
  if (!newest)
    throw notFound('No frame was captured yet', 'Try again after the first capture (state.last_frame_at).');
  return newest;
}

/**
 * Reads the evidence of an own alert, as JPEG, with the boxes of its opening on request. Throws `NOT_FOUND` if it has
 * none, or if it has expired.
 */
export async function readAlertFrame(
  alertId: string,
  { moment, boxes: withBoxes }: { moment: 'opened' | 'closed'; boxes: boolean },
  caller: string,
  deps: Deps & Pick<CoreDeps, 'drawBoxes'>,
): Promise<Uint8Array> {
  const alert = await requireOwnAlert(alertId, caller, deps);
  const key = moment === 'opened' ? alert.frame_key : (alert.closed?.frame_key ?? null);
  const boxes = withBoxes && moment === 'opened' ? (alert.boxes ?? []) : [];
  const frame = key === null ? null : await readFrame(key, boxes, deps);
  if (frame) return frame;
  throw notFound(key === null ? 'This alert has no picture' : `The picture was removed: ${whyGone}`, howLong);
}

/** Returns the clip of an own alert, as MP4. Throws `NOT_FOUND` without one; so does its reading if it has expired. */
export async function readAlertClip(alertId: string, caller: string, deps: Deps): Promise<MediaFile> {
  const { clip } = await requireOwnAlert(alertId, caller, deps);
  const { clip_key: key, bytes } = clip ?? withoutClip('');
  if (key === null || bytes === null)
    throw notFound(
      'This alert has no clip',
      clip?.reason ?? 'It is ready some seconds after the opening, and kept as the picture is.',
    );
  return openMedia(key, bytes, notFound(`The clip was removed: ${whyGone}`, howLong), deps);
}

function notFound(message: string, remediation: string): WatchpostError {
  return new WatchpostError('NOT_FOUND', message, remediation);
}

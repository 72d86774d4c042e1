import type { FollowRequest } from '../../../core/records/capture.ts';
import type { MediaPlaylist } from './playlist/playlist.ts';
import { streamPosition, withoutContent } from './segments/stream-position.ts';

export type FollowHlsDeps = {
  fetchPlaylist: (signal: AbortSignal) => Promise<MediaPlaylist & { paused: boolean }>;
  /** Returns the thumbnail of the last key frame of a playlist. */
  capture: (playlist: MediaPlaylist, signal: AbortSignal) => Promise<Uint8Array>;
  wait: (milliseconds: number, signal: AbortSignal) => Promise<void>;
};

/** Waits for a segment: as long as it takes, then half of that. Bounds in seconds. */
const waits = { min: 0.5, max: 10 };

/**
 * Follows a playlist: fetches each new segment once, as a player does. Throws like `capture` of a stream, and the abort
 * reason.
 */
export async function followHls(
  { fetchPlaylist, capture, wait }: FollowHlsDeps,
  { after }: Pick<FollowRequest, 'after'>,
  onFrame: (thumbnail: Uint8Array) => void,
  signal: AbortSignal,
): Promise<void> {
  let seen = after?.segment ? withoutContent(after.segment) : null;
  for (;;) {
    const playlist = await fetchPlaylist(signal);
    const newest = playlist.segments.findLast(({ gap }) => !gap);
    const position = newest && streamPosition(newest, playlist);
    const isNew = position !== undefined && position.segment !== seen && !playlist.paused;
    if (isNew) {
      seen = position.segment;
      onFrame(await capture(playlist, signal));
    }
    const seconds = (newest?.durationSeconds ?? waits.max) / (isNew ? 1 : 2);
    await wait(Math.min(Math.max(seconds, waits.min), waits.max) * 1000, signal);
  }
}

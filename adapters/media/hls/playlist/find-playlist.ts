import type { CaptureRequest } from '../../../../core/records/capture.ts';
import { StreamEndedError } from '../../../../core/errors.ts';
import type { CallerStream } from '../../../caller-stream.ts';
import { fetchMediaPlaylist, canRetryElsewhere } from './fetch-playlist.ts';
import type { PlaylistFetcher, ResolvedPlaylist, PreparePlaylist } from './fetch-playlist.ts';
import { classifyLiveness } from './playlist.ts';
import type { CachedPlaylist } from './playlist-cache.ts';

/** Playlist URL. `freshUntil` is its expiry, or null if it is unknown and the URL is kept until it fails. */
export type LocatedPlaylist = { url: string; freshUntil: Date | null };

/**
 * Returns the playlist of a stream; called only if no playlist is cached. `again`: the previous result no longer
 * works. Throws `StreamError`.
 */
export type LocatePlaylist = (
  stream: CallerStream,
  again: boolean,
  signal: AbortSignal,
) => Promise<LocatedPlaylist>;

/** Source of the playlist URL for platforms, whose playlists must be requested and expire. */
export type PlaylistSource = { locate: LocatePlaylist; prepare?: PreparePlaylist | undefined };

export type PlaylistFinder = {
  fetcher: PlaylistFetcher;
  locate: LocatePlaylist;
  /** True if a source decides whether the stream is live. Then an ended playlist means an ended stream. */
  asksSource: boolean;
};

/** Live media playlist, and the expiry of its URL (`null` if unknown). */
export type FoundPlaylist = { playlist: ResolvedPlaylist; freshUntil: Date | null | undefined };

/**
 * Fetches the cached media playlist. If it fails or has ended, resolves the URL again: addresses expire, and a
 * restarted encoder may use another one. Throws `StreamEndedError`, and like `fetchMediaPlaylist`.
 */
export async function findPlaylist(
  finder: PlaylistFinder,
  request: CaptureRequest,
  cached: CachedPlaylist | undefined,
  signal: AbortSignal,
): Promise<FoundPlaylist> {
  const again = request.resolveAgain || cached !== undefined;
  const last = cached && (await lastPlaylist(finder, request, cached, signal));
  if (last) return { playlist: last, freshUntil: cached.freshUntil };
  const { url, freshUntil } = await finder.locate(request, again, signal);
  const playlist = await fetchMediaPlaylist(finder.fetcher, url, request.mode, signal);
  if (classifyLiveness(playlist) !== 'live') throw new StreamEndedError();
  return { playlist, freshUntil };
}

/** Returns null if the URL must be resolved again. */
async function lastPlaylist(
  { fetcher, asksSource }: PlaylistFinder,
  request: CaptureRequest,
  { mediaUrl, rendition = null }: CachedPlaylist,
  signal: AbortSignal,
): Promise<ResolvedPlaylist | null> {
  const isAll = mediaUrl === request.url;
  try {
    const playlist = await fetchMediaPlaylist(fetcher, mediaUrl, request.mode, signal);
    if (classifyLiveness(playlist) === 'live') return { ...playlist, rendition };
  } catch (error) {
    if (isAll || !canRetryElsewhere(error)) throw error;
    return null;
  }
  if (isAll || asksSource) throw new StreamEndedError();
  return null;
}

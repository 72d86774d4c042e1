import type { CaptureRequest } from '../../../../core/records/capture.ts';
import { StreamEndedError } from '../../../../core/errors.ts';
import type { CallerStream } from '../../../caller-stream.ts';
import {
  fetchMediaPlaylist,
  canRetryElsewhere,
  type PlaylistFetcher,
  type ResolvedPlaylist,
  type PreparePlaylist,
  type Rendition,
} from './fetch-playlist.ts';
import { classifyLiveness } from './playlist.ts';
import { isOver } from '../../../../core/time.ts';
import { createFairByteCache } from '../../../byte-cache.ts';

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

/** Cached result of the last capture; saves the next capture a request. */
type CachedPlaylist = {
  /** URL of the selected media playlist, after redirects. */
  mediaUrl: string;
  /** Rendition that scans read; `null` for the media playlist itself. */
  rendition?: Rendition | null;
  /** Position of the last capture. If the next one is the same, the encoder may use another playlist now. */
  segment?: string | null;
  /** Number of older segments that were needed to reach a key frame. */
  olderSegments: number;
  /** Expiry reported by the source; null if unknown. */
  freshUntil?: Date | null | undefined;
};

/** Cache of playlists by caller, stream and mode. */
export type PlaylistCache = {
  get(caller: string, key: string): CachedPlaylist | undefined;
  set(caller: string, key: string, playlist: CachedPlaylist): void;
  delete(caller: string, key: string): void;
};

const maxBytes = 16 * 1024 * 1024;

/**
 * Creates a cache of at most `max` entries. An entry expires `keepMs` after its playlist was resolved: variants may
 * change, and an edge server may return outdated data. The expiry is not that of `LRUCache`, which ignores a clock
 * that is set back.
 */
export function createPlaylistCache(options: {
  now: () => Date;
  max: number;
  keepMs: number;
}): PlaylistCache {
  const entries = createFairByteCache<CachedPlaylist & { resolvedAt: Date }>({
    name: 'playlists of streams',
    max: options.max,
    maxBytes,
  });
  return {
    get: (caller, key) => {
      const entry = entries.get(caller, key);
      if (entry === undefined) return undefined;
      const now = options.now();
      const stale = entry.freshUntil ? now >= entry.freshUntil : false;
      if (!stale && !isOver(entry.resolvedAt, options.keepMs / 1000, now)) return entry;
      entries.delete(caller, key);
      return undefined;
    },
    set: (caller, key, playlist) => {
      const cached = entries.get(caller, key);
      const resolvedAt = cached?.mediaUrl === playlist.mediaUrl ? cached.resolvedAt : options.now();
      // Its texts may be parts of a whole playlist.
      entries.set(caller, key, structuredClone({ ...playlist, resolvedAt }));
    },
    delete: entries.delete,
  };
}

import { isOver } from '../../../../core/time.ts';
import { createFairByteCache } from '../../../byte-cache.ts';
import type { Rendition } from './fetch-playlist.ts';

/** Cached result of the last capture; saves the next capture a request. */
export type CachedPlaylist = {
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
      const known = entries.get(caller, key);
      const resolvedAt = known?.mediaUrl === playlist.mediaUrl ? known.resolvedAt : options.now();
      // Its texts may be parts of a whole playlist.
      entries.set(caller, key, structuredClone({ ...playlist, resolvedAt }));
    },
    delete: entries.delete,
  };
}

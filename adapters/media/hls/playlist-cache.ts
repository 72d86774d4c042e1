import { isOver } from '../../../core/time.ts';

/** Cached result of the last capture; saves the next capture a request. */
export type CachedPlaylist = {
  /** URL of the selected media playlist, after redirects. */
  mediaUrl: string;
  /** Position of the last capture. If the next one is the same, the encoder may use another playlist now. */
  segment?: string | null;
  /** Number of older segments that were needed to reach a key frame. */
  olderSegments: number;
  /** Expiry reported by the source; null if unknown. */
  freshUntil?: Date | null | undefined;
};

/** Cache of playlists by stream and mode. */
export type PlaylistMemory = {
  recall(key: string): CachedPlaylist | undefined;
  remember(key: string, remembered: CachedPlaylist): void;
  forget(key: string): void;
};

/**
 * Creates a cache of at most `most` entries. An entry expires `keepMs` after its playlist was resolved: variants
 * may change, and an edge server may return outdated data.
 */
export function createPlaylistMemory(options: {
  now: () => Date;
  max: number;
  keepMs: number;
}): PlaylistMemory {
  const entries = new Map<string, CachedPlaylist & { resolvedAtMs: number }>();
  return {
    recall: (key) => {
      const entry = entries.get(key);
      if (entry === undefined) return undefined;
      const now = options.now();
      const stale = entry.freshUntil ? now >= entry.freshUntil : false;
      if (!stale && !isOver(new Date(entry.resolvedAtMs), options.keepMs / 1000, now)) return entry;
      entries.delete(key);
      return undefined;
    },
    remember: (key, remembered) => {
      const known = entries.get(key);
      const resolvedAtMs =
        known?.mediaUrl === remembered.mediaUrl ? known.resolvedAtMs : options.now().getTime();
      // Reinserts the entry, so that the first key of the map is the least recently used.
      entries.delete(key);
      entries.set(key, { ...remembered, resolvedAtMs });
      const [oldest] = entries.keys();
      if (entries.size > options.max && oldest !== undefined) entries.delete(oldest);
    },
    forget: (key) => void entries.delete(key),
  };
}

import { isOver } from '../../../core/time.ts';

/** What is known of a stream from its last capture, which saves the next one a round trip or a second try. */
export type Remembered = {
  /** The chosen media playlist, after redirects. */
  mediaUrl: string;
  /** Of the last capture: where that has not moved on, the playlist may have been left for another. */
  segment?: string | null;
  /** How many more segments had to be taken to find a key frame. */
  olderSegments: number;
  /** When it ceases to work by what its source says; null where that is not known. */
  freshUntil?: Date | null | undefined;
};

export type PlaylistMemory = {
  recall(key: string): Remembered | undefined;
  remember(key: string, remembered: Remembered): void;
  forget(key: string): void;
};

/**
 * Bounded, and forgets `keepMs` after a playlist was resolved: by then the variants may be others, and an edge server
 * that still answers may be out of date.
 */
export function createPlaylistMemory(options: {
  now: () => Date;
  most: number;
  keepMs: number;
}): PlaylistMemory {
  const entries = new Map<string, Remembered & { resolvedAtMs: number }>();
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
      // Set anew, so that the first of the map is the one that was not used for longest.
      entries.delete(key);
      entries.set(key, { ...remembered, resolvedAtMs });
      const [oldest] = entries.keys();
      if (entries.size > options.most && oldest !== undefined) entries.delete(oldest);
    },
    forget: (key) => void entries.delete(key),
  };
}

import { isOver } from '../../../../core/time.ts';
import { createFairByteCache, ownBytes } from '../../../byte-cache.ts';
import type { Resource } from '../playlist/playlist.ts';

/**
 * Cache of keys and media initialization sections of one stream of a caller: every capture needs them, and they rarely
 * change under one URL. A failed capture evicts the entries it used, because some servers write a new key to the same
 * URL.
 */
export type ResourceCache = {
  /** Returns the cached bytes, else those of `fetch`. Failures are not cached. */
  get(resource: Resource, fetch: () => Promise<Uint8Array>): Promise<Uint8Array>;
  delete(resource: Resource): void;
};

/** Maximum size of an entry, in bytes. A media initialization section has about 1 kB, a key 16 bytes. */
const maxEntryBytes = 64 * 1024;
const maxBytes = 16 * 1024 * 1024;

/**
 * Creates the caches of streams, of at most `max` entries together. What a server gave to the cookies of one caller or
 * stream is not for another. An entry expires `keepMs` after it was fetched, and if the clock is set back.
 */
export function createResourceCache(options: {
  now: () => Date;
  max: number;
  keepMs: number;
}): (caller: string, url: string) => ResourceCache {
  const entries = createFairByteCache<{ bytes: Uint8Array; fetchedAt: Date }>({
    name: 'keys and initialization sections',
    max: options.max,
    maxBytes,
  });
  return (caller, url) => ({
    async get(resource, fetch) {
      const key = toKey(resource, url);
      const known = entries.get(caller, key);
      if (known !== undefined && !isOver(known.fetchedAt, options.keepMs / 1000, options.now()))
        return known.bytes;
      // A server without byte ranges sends more than the section.
      const bytes = ownBytes(await fetch());
      if (bytes.length <= maxEntryBytes) entries.set(caller, key, { bytes, fetchedAt: options.now() });
      return bytes;
    },
    delete: (resource) => entries.delete(caller, toKey(resource, url)),
  });
}

function toKey({ url, byteRange }: Resource, stream: string): string {
  return JSON.stringify([stream, url, byteRange]);
}

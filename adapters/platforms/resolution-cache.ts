import { LRUCache } from 'lru-cache';
import { waitUntilAborted } from '../../core/time-limit.ts';
import type { Resolution } from './resolution.ts';

/** Cache of resolutions by page URL. */
export type ResolutionCache = {
  /**
   * Returns the resolution of a page; `again` bypasses the cache. Throws the errors of `resolve`, and the abort
   * reason.
   */
  resolve(url: string, again: boolean, signal: AbortSignal): Promise<Resolution>;
};

/**
 * Creates a cache in memory. It resolves a page again shortly before expiry. Concurrent calls share one request, so
 * no single abort signal cancels it.
 */
export function createResolutionCache(deps: {
  resolve: (url: string) => Promise<Resolution>;
  now: () => Date;
  max: number;
}): ResolutionCache {
  const known = new LRUCache<string, { resolution: Resolution; freshUntil: Date | null }>({ max: deps.max });
  const underWay = new Map<string, Promise<Resolution>>();
  return {
    resolve: async (url, again, signal) => {
      const entry = known.get(url);
      if (!again && entry && isFresh(entry.freshUntil, deps.now())) return entry.resolution;
      return waitUntilAborted(underWay.get(url) ?? begin(url), signal);
    },
  };

  function begin(url: string): Promise<Resolution> {
    const resolving = resolveAndKeep(url).finally(() => underWay.delete(url));
    underWay.set(url, resolving);
    return resolving;
  }

  async function resolveAndKeep(url: string): Promise<Resolution> {
    known.delete(url);
    const resolution = await deps.resolve(url);
    known.set(url, { resolution, freshUntil: freshUntil(resolution.expiresAt, deps.now()) });
    return resolution;
  }
}

/**
 * Returns the time for a renewal: five minutes before expiry, longer than any capture, or half of the remaining
 * time if that is shorter.
 */
export function freshUntil(expiresAt: Date | null, now: Date): Date | null {
  if (expiresAt === null) return null;
  const leftMs = Math.max(0, expiresAt.getTime() - now.getTime());
  return new Date(expiresAt.getTime() - Math.min(marginMs, leftMs / 2));
}

const marginMs = 5 * 60_000;

function isFresh(until: Date | null, now: Date): boolean {
  return until === null || now < until;
}

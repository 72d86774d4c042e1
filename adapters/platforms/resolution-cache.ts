import { waitUntilAborted } from '../../core/time-limit.ts';
import { createFairByteCache } from '../byte-cache.ts';
import { toStreamKey, type CallerStream } from '../caller-stream.ts';
import type { Resolution } from './resolution.ts';

/** Cache of resolutions by caller and page URL. */
export type ResolutionCache = {
  /**
   * Returns the resolution of a page; `again` bypasses the cache. Throws the errors of `resolve`, and the abort
   * reason.
   */
  resolve(page: CallerStream, again: boolean, signal: AbortSignal): Promise<Resolution>;
};

const maxBytes = 16 * 1024 * 1024;

/**
 * Creates a cache in memory. It resolves a page again shortly before expiry. Concurrent calls share one request, so
 * no single abort signal cancels it.
 */
export function createResolutionCache(deps: {
  resolve: (url: string) => Promise<Resolution>;
  now: () => Date;
  max: number;
}): ResolutionCache {
  const known = createFairByteCache<{ resolution: Resolution; freshUntil: Date | null }>({
    name: 'resolutions of pages',
    max: deps.max,
    maxBytes,
  });
  const underWay = new Map<string, Promise<Resolution>>();
  return {
    resolve: async (page, again, signal) => {
      const entry = known.get(page.caller, page.url);
      if (!again && entry && isFresh(entry.freshUntil, deps.now())) return entry.resolution;
      return waitUntilAborted(underWay.get(toStreamKey(page)) ?? begin(page), signal);
    },
  };

  function begin(page: CallerStream): Promise<Resolution> {
    const key = toStreamKey(page);
    const resolving = resolveAndKeep(page).finally(() => underWay.delete(key));
    underWay.set(key, resolving);
    return resolving;
  }

  async function resolveAndKeep({ url, caller }: CallerStream): Promise<Resolution> {
    known.delete(caller, url);
    // Its texts may be parts of a whole page.
    const resolution = structuredClone(await deps.resolve(url));
    known.set(caller, url, { resolution, freshUntil: freshUntil(resolution.expiresAt, deps.now()) });
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

import type { Resolution } from './resolution.ts';

export type ResolutionMemory = {
  /** `again`: from the platform, not from memory. Throws what `resolve` throws, and the reason of an aborted `signal`. */
  resolve(url: string, again: boolean, signal: AbortSignal): Promise<Resolution>;
};

/**
 * Resolutions by the URL of their page, in memory alone. One that is about to expire is made anew, and however many ask at the same
 * time, the platform is asked once: it belongs to none of them, so none of their signals ends it.
 */
export function createResolutionMemory(deps: {
  resolve: (url: string) => Promise<Resolution>;
  now: () => Date;
  most: number;
}): ResolutionMemory {
  const known = new Map<string, { resolution: Resolution; freshUntil: Date | null }>();
  const underWay = new Map<string, Promise<Resolution>>();
  return {
    resolve: async (url, again, signal) => {
      const entry = known.get(url);
      if (!again && entry && isFresh(entry.freshUntil, deps.now())) return entry.resolution;
      return orAborted(underWay.get(url) ?? begin(url), signal);
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
    const [oldest] = known.keys();
    if (known.size > deps.most && oldest !== undefined) known.delete(oldest);
    return resolution;
  }
}

/** Before it bites: five minutes, longer than any capture takes, or half of what lives shorter. */
export function freshUntil(expiresAt: Date | null, now: Date): Date | null {
  if (expiresAt === null) return null;
  const leftMs = Math.max(0, expiresAt.getTime() - now.getTime());
  return new Date(expiresAt.getTime() - Math.min(marginMs, leftMs / 2));
}

const marginMs = 5 * 60_000;

function isFresh(until: Date | null, now: Date): boolean {
  return until === null || now < until;
}

function orAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const abort = (): void => reject(signal.reason);
  signal.addEventListener('abort', abort, { once: true });
  if (signal.aborted) abort();
  return Promise.race([work, promise]).finally(() => signal.removeEventListener('abort', abort));
}

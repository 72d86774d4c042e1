import type { CoreDeps } from '../dependencies.ts';
import type { ApiKey } from '../records/key.ts';

/**
 * Returns dependencies whose creations commit only if the key is still valid then. A creation probes its stream for up to 20 s, in which its key
 * can be revoked and its caller erased.
 */
export function requireKey<Deps extends Pick<CoreDeps, 'jobs' | 'watches'>>(
  deps: Deps,
  { hash: keyHash }: Pick<ApiKey, 'hash'>,
): Deps {
  const { jobs, watches } = deps;
  return {
    ...deps,
    jobs: { ...jobs, create: (creation, now) => jobs.create({ ...creation, keyHash }, now) },
    watches: { ...watches, create: (creation, now) => watches.create({ ...creation, keyHash }, now) },
  };
}

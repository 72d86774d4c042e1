import type { GuardedHttp } from '../egress/guarded-http.ts';
import type { EgressGuard } from '../egress/guard.ts';
import { loadOnce } from '../load-once.ts';

/**
 * Adapters whose libraries a cold start does not load. The first call loads them: the bundler writes each dynamic import to a file of its
 * own, and the test of the bundles limits the size of the rest.
 */

/** Creates the client for webhooks, without keep-alive; loads undici at the first request. */
export function deferWebhookHttp(guard: EgressGuard): GuardedHttp {
  const load = loadOnce(async () => {
    const { createGuardedHttp } = await import('../egress/guarded-http.ts');
    return createGuardedHttp(guard, { keepAlive: false });
  });
  return {
    request: async (...input) => (await load()).request(...input),
    close: async () => (await load()).close(),
  };
}

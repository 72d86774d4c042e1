import { createMiddleware } from 'hono/factory';
import type { Scope } from '../../core/records/key.ts';
import type { AuthEnv } from './bearer-auth.ts';
import type { RequestBodies } from './request-bodies.ts';

/**
 * Sets `readBody`, with which a handler reads at most `maxBytes` of the body. Runs after `bearerAuth`: the body of a request
 * without a key, or without a handler for it, is not read.
 */
export function limitBodies(
  { bodies }: { bodies: RequestBodies },
  maxBytes: (scopes: readonly Scope[]) => number,
) {
  return createMiddleware<AuthEnv>(async (context, next) => {
    const body = bodies.open(context.get('key').caller);
    context.set('readBody', () => body.read(context.req.raw, maxBytes(context.get('key').scopes)));
    try {
      await next();
    } finally {
      body.close();
    }
  });
}

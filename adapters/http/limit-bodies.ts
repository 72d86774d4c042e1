import { createMiddleware } from 'hono/factory';
import type { AuthEnv } from './bearer-auth.ts';
import type { RequestBodies } from './request-bodies.ts';

/**
 * Sets `readBody`, by which a handler reads the request's body, at most `maxBytes` of it. Runs behind `bearerAuth`: nothing is read of a
 * request without a key, nor of one that no handler takes.
 */
export function limitBodies({ bodies }: { bodies: RequestBodies }, maxBytes: (path: string) => number) {
  return createMiddleware<AuthEnv>(async (context, next) => {
    const body = bodies.open(context.get('key').caller);
    context.set('readBody', () => body.read(context.req.raw, maxBytes(context.req.path)));
    try {
      await next();
    } finally {
      body.close();
    }
  });
}

import { Hono } from 'hono';
import type { MiddlewareHandler } from 'hono';
import type { AuthEnv } from './bearer-auth.ts';
import type { HttpDeps } from './dependencies.ts';
import type { Endpoint } from './endpoint.ts';
import { limitBodies } from './limit-bodies.ts';
import { requireFixedHeaders, requireScope } from './require-scope.ts';
import { validateRequest } from './validate-request.ts';
import { createMiddleware } from 'hono/factory';

/** Creates the routes of declared endpoints. */
export function mountEndpoints(endpoints: readonly Endpoint[], deps: HttpDeps): Hono<AuthEnv> {
  const app = new Hono<AuthEnv>();
  for (const endpoint of endpoints) {
    const path = endpoint.path.replace(/\{(\w+)\}/g, ':$1');
    const checks = [...guards(endpoint, deps), ...validateRequest(endpoint.request)];
    app.on(endpoint.method.toUpperCase(), [path], ...checks, (context) => endpoint.respond(context, deps));
  }
  return app;
}

function guards(
  { maxBodyBytes, scope, fixedHeaders, response }: Endpoint,
  deps: HttpDeps,
): MiddlewareHandler<AuthEnv>[] {
  return [
    ...(scope === 'any' ? [] : [requireScope(scope)]),
    ...(fixedHeaders ? [requireFixedHeaders(fixedHeaders)] : []),
    ...(response.kind === 'json' && response.secret ? [noStore()] : []),
    limitBodies(deps, () => maxBodyBytes),
  ];
}

/** Forbids caches to store a response with a secret. */
function noStore() {
  return createMiddleware(async (context, next) => {
    await next();
    context.header('Cache-Control', 'no-store');
  });
}

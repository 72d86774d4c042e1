import { Hono, type MiddlewareHandler } from 'hono';
import type { AuthEnv } from './bearer-auth.ts';
import type { HttpDeps } from './dependencies.ts';
import type { Endpoint } from './endpoint.ts';
import { limitBodies } from './request-bodies.ts';
import { validateRequest } from './validate-request.ts';
import { createMiddleware } from 'hono/factory';
import { ForbiddenError } from '../../core/errors.ts';
import { hasScope, type Scope } from '../../core/records/key.ts';

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

/** Requires a scope of the key; throws `ForbiddenError` (403) without it. Runs after `bearerAuth`. */
function requireScope(scope: Scope) {
  return createMiddleware<AuthEnv>(async (context, next) => {
    if (!hasScope(context.get('key').scopes, scope)) throw lacks(scope);
    await next();
  });
}

/** Requires these headers with these values; throws `ForbiddenError` (403) otherwise (internal calls, I-5.6). */
function requireFixedHeaders(headers: Record<string, string>) {
  return createMiddleware<AuthEnv>(async (context, next) => {
    for (const [name, value] of Object.entries(headers)) {
      if (context.req.header(name) !== value)
        throw new ForbiddenError(`Internal calls send the header "${name}: ${value}".`);
    }
    await next();
  });
}

function lacks(scope: Scope): ForbiddenError {
  return new ForbiddenError(`Use a key with the scope "${scope}".`);
}

import { createMiddleware } from 'hono/factory';
import { ForbiddenError } from '../../core/errors.ts';
import type { Scope } from '../../core/records/key.ts';
import type { AuthEnv } from './bearer-auth.ts';
import type { Endpoint } from './endpoint.ts';

/** Requires a scope of the key; throws `ForbiddenError` (403) without it. Runs after `bearerAuth`. */
export function requireScope(scope: Scope) {
  return createMiddleware<AuthEnv>(async (context, next) => {
    if (!context.get('key').scopes.includes(scope)) throw lacks(scope);
    await next();
  });
}

/** Requires these headers with these values; throws `ForbiddenError` (403) otherwise (internal calls, interface section 5). */
export function requireFixedHeaders(headers: Record<string, string>) {
  return createMiddleware<AuthEnv>(async (context, next) => {
    for (const [name, value] of Object.entries(headers)) {
      if (context.req.header(name) !== value)
        throw new ForbiddenError(`Internal calls send the header "${name}: ${value}".`);
    }
    await next();
  });
}

/**
 * Requires the scope `jobs` on every `/api` path, except resources with an endpoint that declares another scope. An unknown path
 * is closed by default.
 */
export function requireJobsScope(endpoints: readonly Pick<Endpoint, 'path' | 'scope'>[]) {
  const others = new Set(
    endpoints.filter(({ scope }) => scope !== 'jobs').map(({ path }) => resourceName(path)),
  );
  const jobsScope = requireScope('jobs');
  return createMiddleware<AuthEnv>(async (context, next) => {
    const resource = resourceName(context.req.path.slice('/api'.length));
    return others.has(resource) ? next() : jobsScope(context, next);
  });
}

/** Returns the first segment of a path below the base URL. */
function resourceName(path: string): string {
  return path.split('/')[1] ?? '';
}

function lacks(scope: Scope): ForbiddenError {
  return new ForbiddenError(`Use a key with the scope "${scope}".`);
}

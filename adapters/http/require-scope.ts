import { createMiddleware } from 'hono/factory';
import { ForbiddenError } from '../../core/errors.ts';
import type { Scope } from '../../core/key.ts';
import type { AuthEnv } from './bearer-auth.ts';

/** Lets a request pass whose key has the scope; otherwise 403. Stands behind `bearerAuth`. */
export function requireScope(scope: Scope) {
  return createMiddleware<AuthEnv>(async (context, next) => {
    if (!context.get('key').scopes.includes(scope)) throw lacks(scope);
    await next();
  });
}

/** What is internal needs the scope and the header of an internal call (interface section 5). */
export function internalOnly() {
  return createMiddleware<AuthEnv>(async (context, next) => {
    if (!context.get('key').scopes.includes('internal')) throw lacks('internal');
    if (context.req.header('X-Service-Internal') !== 'true') throw notInternal();
    await next();
  });
}

/** Resources whose routes say themselves what they need. */
const otherwiseGuarded = new Set(['metrics', 'logs', 'alarms', 'keys', 'callers']);

/** Every other endpoint below `/api` needs `jobs`: a route that nobody thought of is closed, not open. */
export function requireJobsScope() {
  const jobsScope = requireScope('jobs');
  return createMiddleware<AuthEnv>(async (context, next) => {
    const resource = context.req.path.split('/')[2] ?? '';
    return otherwiseGuarded.has(resource) ? next() : jobsScope(context, next);
  });
}

function lacks(scope: Scope): ForbiddenError {
  return new ForbiddenError(`Use a key with the scope "${scope}".`);
}

function notInternal(): ForbiddenError {
  return new ForbiddenError('Internal calls send the header "X-Service-Internal: true".');
}

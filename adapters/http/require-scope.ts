import { createMiddleware } from 'hono/factory';
import { ForbiddenError } from '../../core/errors.ts';
import { hasScope } from '../../core/records/key.ts';
import type { Scope } from '../../core/records/key.ts';
import type { AuthEnv } from './bearer-auth.ts';

/** Requires a scope of the key; throws `ForbiddenError` (403) without it. Runs after `bearerAuth`. */
export function requireScope(scope: Scope) {
  return createMiddleware<AuthEnv>(async (context, next) => {
    if (!hasScope(context.get('key').scopes, scope)) throw lacks(scope);
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

function lacks(scope: Scope): ForbiddenError {
  return new ForbiddenError(`Use a key with the scope "${scope}".`);
}

import { createMiddleware } from 'hono/factory';
import { hasScope } from '../../core/records/key.ts';
import type { AuthEnv } from './bearer-auth.ts';
import type { HttpDeps } from './dependencies.ts';

/** Header in which the console states the address of its page when it signs in. */
const header = 'Watchpost-Console';
const maxLength = 200;

/**
 * Reports the address at which a caller opened the console: that of the request itself, whose host `guardHost` has
 * accepted, by a key that may write. A page with a key of scope `read` must not direct the links of alerts elsewhere.
 */
export function rememberConsole({ consoleOpened }: Pick<HttpDeps, 'consoleOpened'>) {
  return createMiddleware<AuthEnv>(async (context, next) => {
    const origin = context.req.header(header);
    const { caller, scopes } = context.var.key;
    const isOwn = origin !== undefined && isOrigin(origin, context.req.header('Host'));
    if (isOwn && hasScope(scopes, 'jobs')) await consoleOpened?.(caller, origin);
    await next();
  });
}

function isOrigin(text: string, ownHost: string | undefined): boolean {
  if (text.length > maxLength || !URL.canParse(text)) return false;
  const { protocol, origin, host } = new URL(text);
  return /^https?:$/.test(protocol) && origin === text && host === ownHost;
}

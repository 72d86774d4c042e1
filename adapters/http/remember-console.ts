import { createMiddleware } from 'hono/factory';
import type { AuthEnv } from './bearer-auth.ts';
import type { HttpDeps } from './dependencies.ts';

/** Header in which the console states the address of its page when it signs in. */
const header = 'Watchpost-Console';
const maxLength = 200;

/** Reports the address at which a caller opened the console. Each caller states its own, so that nobody directs the links of another. */
export function rememberConsole({ consoleOpened }: Pick<HttpDeps, 'consoleOpened'>) {
  return createMiddleware<AuthEnv>(async (context, next) => {
    const origin = context.req.header(header);
    if (origin !== undefined && isOrigin(origin)) await consoleOpened?.(context.var.key.caller, origin);
    await next();
  });
}

function isOrigin(text: string): boolean {
  if (text.length > maxLength || !URL.canParse(text)) return false;
  const { protocol, origin } = new URL(text);
  return /^https?:$/.test(protocol) && origin === text;
}

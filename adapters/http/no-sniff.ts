import { createMiddleware } from 'hono/factory';

/** Browsers take an answer for what its type says, and never for a page or a script: answers quote what callers sent. */
export function noSniff() {
  return createMiddleware(async (context, next) => {
    await next();
    context.header('X-Content-Type-Options', 'nosniff');
  });
}

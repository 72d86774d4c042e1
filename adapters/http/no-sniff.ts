import { createMiddleware } from 'hono/factory';

/** Forbids browsers to guess the content type: responses quote callers and must not become a page or script. */
export function noSniff() {
  return createMiddleware(async (context, next) => {
    await next();
    context.header('X-Content-Type-Options', 'nosniff');
  });
}

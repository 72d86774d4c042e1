import { createMiddleware } from 'hono/factory';

/** Forbids caches to store a response with a secret. */
export function noStore() {
  return createMiddleware(async (context, next) => {
    await next();
    context.header('Cache-Control', 'no-store');
  });
}

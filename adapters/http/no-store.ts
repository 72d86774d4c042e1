import { createMiddleware } from 'hono/factory';

/** Answers that hold a secret are kept nowhere on their way. */
export function noStore() {
  return createMiddleware(async (context, next) => {
    await next();
    context.header('Cache-Control', 'no-store');
  });
}

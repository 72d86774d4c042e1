import { Hono } from 'hono';
import { RateLimitedError, ServiceOverloadedError } from '../../core/errors.ts';
import { bearerAuth } from './bearer-auth.ts';
import type { AuthEnv } from './bearer-auth.ts';
import type { HttpDeps } from './dependencies.ts';
import { allowOrigins } from './cors.ts';
import { endpoints } from './endpoints/endpoints.ts';
import { evidencePath } from '../../core/delivery/evidence-link.ts';
import { errorResponse } from './error-envelope.ts';
import { evidence } from './evidence.ts';
import { guardHost } from './guard-host.ts';
import { healthz } from './healthz.ts';
import { mountEndpoints } from './mount-endpoints.ts';
import { fallbackHandler } from './fallback.ts';
import { rememberConsole } from './remember-console.ts';
import { toValidationError } from './refusals.ts';
import { createMiddleware } from 'hono/factory';

/**
 * Creates the HTTP app: the API below `/api`, `/healthz`, and signed links to evidence. Lambda and the embedded service use the same app.
 *
 * @example
 * const response = await createApp(deps).request('/api/jobs', { headers: { Authorization: `Bearer ${key}` } });
 */
export function createApp(deps: HttpDeps): Hono<AuthEnv> {
  const app = new Hono<AuthEnv>();
  app.use(noSniff());
  app.use(guardHost(deps));
  app.get('/healthz', healthz(deps));
  app.get(`${evidencePath}/:watch_id/:sequence`, evidence(deps));
  if (deps.allowedOrigins.length > 0) app.use('/api/*', allowOrigins(deps));
  app.use('/api/*', bearerAuth(deps));
  app.use('/api/me', rememberConsole(deps));
  app.route('/api', mountEndpoints(endpoints, deps));
  app.notFound(fallbackHandler(app));
  app.onError((error, context) => {
    const invalid = toValidationError(error);
    if (invalid) return context.json({ detail: invalid.detail }, 422);
    const { status, body } = errorResponse(error);
    // A client that disconnects during its request is not an error of the service.
    if (status === 500 && !context.req.raw.signal.aborted)
      deps.log.error('Request failed', {
        path: context.req.path,
        error: String(error),
        stack: error.stack ?? null,
      });
    if (error instanceof RateLimitedError || error instanceof ServiceOverloadedError)
      context.header('Retry-After', `${error.retryAfterSeconds}`);
    if (status === 401) context.header('WWW-Authenticate', 'Bearer');
    // Closes the connection, since the unread rest of the body would be parsed as the next request.
    if (status === 408) context.header('Connection', 'close');
    return context.json(body, status);
  });
  return app;
}

/** Forbids browsers to guess the content type: responses quote callers and must not become a page or script. */
function noSniff() {
  return createMiddleware(async (context, next) => {
    await next();
    context.header('X-Content-Type-Options', 'nosniff');
  });
}

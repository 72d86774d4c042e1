import { Hono } from 'hono';
import { IdempotencyKeyReusedError, RateLimitedError } from '../../core/errors.ts';
import { bearerAuth } from './bearer-auth.ts';
import type { AuthEnv } from './bearer-auth.ts';
import type { HttpCollaborators } from './collaborators.ts';
import { errorResponse } from './error-envelope.ts';
import { guardHost } from './guard-host.ts';
import { limitBodies } from './limit-bodies.ts';
import { noSniff } from './no-sniff.ts';
import { openApiRoute } from '../openapi/openapi-route.ts';
import { requireJobsScope } from './require-scope.ts';
import { callerRoutes } from './routes/callers.ts';
import { insightRoutes } from './routes/insight.ts';
import { keyReused } from './idempotency-key.ts';
import { analyzeFrameRoutes } from './routes/analyze-frame.ts';
import { checkOnceRoutes } from './routes/check-once.ts';
import { jobRoutes } from './routes/jobs.ts';
import { keyRoutes } from './routes/keys.ts';
import { webhookRoutes } from './routes/webhooks.ts';
import { startJobRoutes } from './routes/start-job.ts';
import { streamRoutes } from './routes/streams.ts';
import { unmatched } from './unmatched.ts';
import { ValidationError } from './validation.ts';

/** Above what the schemas let through, with every character escaped. */
const maxBodyBytes = 32_000;
/** A frame of 4096 × 3072 pixels as base64. */
const maxFrameBytes = 5_000_000;

/**
 * The whole HTTP surface: the API below `/api`, `/healthz` beside it. Serves Lambda and the one-machine service alike.
 *
 * @example
 * const response = await createApp(collaborators).request('/api/jobs', { headers: { Authorization: `Bearer ${key}` } });
 */
export function createApp(c: HttpCollaborators): Hono<AuthEnv> {
  const app = new Hono<AuthEnv>();
  app.use(noSniff());
  app.use(guardHost(c));
  app.get('/healthz', (context) => context.json({ status: 'ok' }));
  app.route('/', openApiRoute(c));
  app.use('/api/*', bearerAuth(c), requireJobsScope());
  app.use(
    '/api/*',
    limitBodies(c, (path) => (path === '/api/analyze-frame' ? maxFrameBytes : maxBodyBytes)),
  );
  app.route('/api', checkOnceRoutes(c));
  app.route('/api', startJobRoutes(c));
  app.route('/api', streamRoutes(c));
  app.route('/api', analyzeFrameRoutes(c));
  app.route('/api', jobRoutes(c));
  app.route('/api', webhookRoutes(c));
  app.route('/api', keyRoutes(c));
  app.route('/api', callerRoutes(c));
  app.route('/api', insightRoutes(c));
  app.notFound(unmatched(app));
  app.onError((error, context) => {
    if (error instanceof ValidationError) return context.json({ detail: error.detail }, 422);
    if (error instanceof IdempotencyKeyReusedError) return context.json({ detail: keyReused().detail }, 422);
    const { status, body } = errorResponse(error);
    // A client that left in the middle of its request is no fault of the service.
    if (status === 500 && !context.req.raw.signal.aborted)
      c.log.error('Request failed', {
        path: context.req.path,
        error: String(error),
        stack: error.stack ?? null,
      });
    if (error instanceof RateLimitedError) context.header('Retry-After', `${error.retryAfterSeconds}`);
    if (status === 401) context.header('WWW-Authenticate', 'Bearer');
    // The rest of the body may still arrive, and would be read as the next request.
    if (status === 408) context.header('Connection', 'close');
    return context.json(body, status);
  });
  return app;
}

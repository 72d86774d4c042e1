import { Hono } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import type { Collaborators } from '../../core/collaborators.ts';
import { WatchpostError } from '../../core/errors.ts';
import { bearerAuth } from './bearer-auth.ts';
import type { AuthEnv, AuthNeeds } from './bearer-auth.ts';
import { errorResponse } from './error-envelope.ts';
import { jobRoutes } from './routes/jobs.ts';
import { liveMonitorRoutes } from './routes/live-monitor.ts';
import { ValidationError } from './validation.ts';

export type HttpCollaborators = Collaborators & AuthNeeds;

const bodyBytes = 5_000_000;

/**
 * The whole HTTP surface: the API below `/api`, `/healthz` beside it. Serves Lambda and the one-machine service alike.
 *
 * @example
 * const response = await createApp(collaborators).request('/api/jobs', { headers: { Authorization: `Bearer ${key}` } });
 */
export function createApp(c: HttpCollaborators): Hono<AuthEnv> {
  const app = new Hono<AuthEnv>();
  app.get('/healthz', (context) => context.json({ status: 'ok' }));
  app.use('/api/*', bearerAuth(c));
  app.use('/api/*', bodyLimit({ maxSize: bodyBytes, onError: tooLarge }));
  app.route('/api', liveMonitorRoutes(c));
  app.route('/api', jobRoutes(c));
  app.notFound((context) => {
    const { status, body } = errorResponse(noSuchRoute(context.req.method, context.req.path));
    return context.json(body, status);
  });
  app.onError((error, context) => {
    if (error instanceof ValidationError) return context.json({ detail: error.detail }, 422);
    const { status, body } = errorResponse(error);
    if (status === 500)
      c.log.error('Request failed', {
        path: context.req.path,
        error: String(error),
        stack: error.stack ?? null,
      });
    if (status === 401) context.header('WWW-Authenticate', 'Bearer');
    return context.json(body, status);
  });
  return app;
}

function tooLarge(): never {
  throw new WatchpostError(
    'PAYLOAD_TOO_LARGE',
    'Request body is too large',
    `Send at most ${bodyBytes / 1_000_000} MB; a smaller frame is enough for the model.`,
  );
}

function noSuchRoute(method: string, path: string): WatchpostError {
  return new WatchpostError(
    'NOT_FOUND',
    `No such endpoint: ${method} ${path}`,
    'See the list of endpoints in docs/api.md.',
  );
}

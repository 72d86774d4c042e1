import type { Context, Env, Hono } from 'hono';
import { METHOD_NAME_ALL } from 'hono/router';
import { findNearestName } from '../../core/nearest-name.ts';
import { WatchpostError } from '../../core/errors.ts';
import { errorResponse } from './error-envelope.ts';

const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;

/**
 * Handles requests that match no route: 404 for an unknown path, with the most similar address; 405 with `Allow` for a
 * method that the path does not support. OPTIONS returns `Allow` with 204. `/` redirects a browser to the console.
 */
export function fallbackHandler<E extends Env>(app: Hono<E>) {
  return (context: Context<E>): Response => {
    const { method, path } = context.req;
    const allowed = listMethods(app, path);
    const isPage = context.req.header('Accept')?.includes('text/html') ?? false;
    if (path === '/' && isPage) return context.redirect('/console');
    if (allowed.length === 0) return refuse(context, noSuchPath(path, findAddress(app, path)));
    context.header('Allow', allowed.join(', '));
    return method === 'OPTIONS' ? context.body(null, 204) : refuse(context, wrongMethod(method, allowed));
  };
}

/** Returns the methods that endpoints declare: middleware matches every method. Hono serves HEAD by GET. */
function listMethods<E extends Env>({ router }: Hono<E>, path: string): string[] {
  const named = methods.filter((method) =>
    router.match(method, path)[0].some(([[, route]]) => route.method !== METHOD_NAME_ALL),
  );
  return named.flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : method));
}

function refuse<E extends Env>(context: Context<E>, error: WatchpostError): Response {
  const { status, body } = errorResponse(error);
  return context.json(body, status);
}

/**
 * Paths that other services have, with those that have the same purpose here. On AWS, CloudFront serves `/docs` and
 * this app does not.
 */
const aliases: Record<string, string[]> = {
  '/health': ['/healthz'],
  '/livez': ['/healthz'],
  '/readyz': ['/healthz'],
  '/status': ['/healthz'],
  '/ping': ['/healthz'],
  '/api/healthz': ['/healthz'],
  '/docs': ['/openapi.json'],
  '/swagger': ['/docs', '/openapi.json'],
  '/redoc': ['/docs', '/openapi.json'],
  '/api': ['/docs', '/openapi.json'],
  '/api/docs': ['/docs', '/openapi.json'],
  '/swagger.json': ['/openapi.json'],
};

/** Finds the path of this server that is most similar to an unknown one. */
function findAddress<E extends Env>(app: Hono<E>, path: string): string | undefined {
  const bare = path.replace(/(?<!\/)\/+$/, '');
  const meant = [bare, `/api${bare}`, bare.replace(/^\/api(?=\/api\/)/, ''), ...(aliases[bare] ?? [])];
  const meantPath = meant.find((candidate) => candidate !== path && listMethods(app, candidate).length > 0);
  if (meantPath !== undefined) return meantPath;
  const fixed = app.routes.map((route) => route.path).filter((route) => !/[:*]/.test(route));
  return findNearestName(bare, fixed) ?? findNearestName(`/api${bare}`, fixed);
}

function noSuchPath(path: string, address: string | undefined): WatchpostError {
  return new WatchpostError(
    'NOT_FOUND',
    `No such endpoint: ${path}`,
    address === undefined
      ? 'The endpoints are below /api, as listed in /openapi.json; the console is at /console.'
      : `Use ${address} on this server.`,
  );
}

function wrongMethod(method: string, allowed: string[]): WatchpostError {
  return new WatchpostError(
    'METHOD_NOT_ALLOWED',
    `This endpoint does not support ${method}`,
    `Use ${allowed.join(' or ')}.`,
  );
}

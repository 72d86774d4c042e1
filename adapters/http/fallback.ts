import type { Context, Env, Hono } from 'hono';
import { METHOD_NAME_ALL } from 'hono/router';
import { WatchpostError } from '../../core/errors.ts';
import { errorResponse } from './error-envelope.ts';

const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;

/**
 * Answers what no route has answered: 404 for a path that is not there, 405 for one that takes other methods, which `Allow`
 * lists. OPTIONS asks for just that list.
 */
export function fallbackHandler<E extends Env>(app: Hono<E>) {
  return (context: Context<E>): Response => {
    const { method, path } = context.req;
    const allowed = listMethods(app, path);
    if (allowed.length === 0) return refuse(context, noSuchPath(path));
    context.header('Allow', allowed.join(', '));
    return method === 'OPTIONS' ? context.body(null, 204) : refuse(context, wrongMethod(method, allowed));
  };
}

/** Middleware matches every method; only what a route names counts. Hono answers HEAD by GET. */
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

function noSuchPath(path: string): WatchpostError {
  return new WatchpostError(
    'NOT_FOUND',
    `No such endpoint: ${path}`,
    'See the list of endpoints in docs/use/api-reference.md.',
  );
}

function wrongMethod(method: string, allowed: string[]): WatchpostError {
  return new WatchpostError(
    'METHOD_NOT_ALLOWED',
    `This endpoint does not take ${method}`,
    `Use ${allowed.join(' or ')}.`,
  );
}

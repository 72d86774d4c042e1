import type { Context, Env, Hono } from 'hono';
import { METHOD_NAME_ALL } from 'hono/router';
import { WatchpostError } from '../../core/errors.ts';
import { errorResponse } from './error-envelope.ts';

const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;

/**
 * Handles requests that match no route: 404 for an unknown path, 405 with `Allow` for a method that the path does not support.
 * OPTIONS returns `Allow` with 204.
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

function noSuchPath(path: string): WatchpostError {
  return new WatchpostError(
    'NOT_FOUND',
    `No such endpoint: ${path}`,
    'Use an endpoint of docs/use/api-reference.md.',
  );
}

function wrongMethod(method: string, allowed: string[]): WatchpostError {
  return new WatchpostError(
    'METHOD_NOT_ALLOWED',
    `This endpoint does not support ${method}`,
    `Use ${allowed.join(' or ')}.`,
  );
}

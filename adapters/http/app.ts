import { Hono, type Context, type MiddlewareHandler, type Env } from 'hono';
import {
  RateLimitedError,
  ServiceOverloadedError,
  IdempotencyKeyReusedError,
  UnknownConditionError,
  UnservedFieldError,
  WatchpostError,
  ForbiddenError,
} from '../../core/errors.ts';
import { bearerAuth, type AuthEnv } from './bearer-auth.ts';
import { beginSession, endSession, readSession, readSignInCode, sessionPath } from './console-session.ts';
import type { HttpDeps } from './dependencies.ts';
import { allowOrigins } from './cors.ts';
import { endpoints } from './endpoints/endpoints.ts';
import { evidencePath, readEvidence } from '../../core/delivery/links.ts';
import { errorResponse } from './error-envelope.ts';
import { guardHost } from './guard-host.ts';
import { createMiddleware } from 'hono/factory';
import { ValidationError, validateRequest } from './validate-request.ts';
import { worstStatus, type HealthReader } from '../../core/ports/observability.ts';
import { hasScope, type Scope } from '../../core/records/key.ts';
import { z } from 'zod';
import { fileResponse } from './endpoint-response.ts';
import type { Endpoint } from './endpoint.ts';
import { limitBodies } from './request-bodies.ts';
import { METHOD_NAME_ALL } from 'hono/router';
import { findNearestName } from '../../core/nearest-name.ts';

/** Header in which the console states the address of its page when it signs in. */
const header = 'Watchpost-Console';
const maxLength = 200;

/**
 * Reports the address at which a caller opened the console: that of the request itself, whose host `guardHost` has
 * accepted, by a key that may write. A page with a key of scope `read` must not direct the links of alerts elsewhere.
 */
function rememberConsole({ consoleOpened }: Pick<HttpDeps, 'consoleOpened'>) {
  return createMiddleware<AuthEnv>(async (context, next) => {
    const origin = context.req.header(header);
    const { caller, scopes } = context.var.key;
    const isOwn = origin !== undefined && isOrigin(origin, context.req.header('Host'));
    if (isOwn && hasScope(scopes, 'jobs')) await consoleOpened?.(caller, origin);
    await next();
  });
}

function isOrigin(text: string, ownHost: string | undefined): boolean {
  if (text.length > maxLength || !URL.canParse(text)) return false;
  const { protocol, origin, host } = new URL(text);
  return /^https?:$/.test(protocol) && origin === text && host === ownHost;
}

/** Path at which other services have their document; it leads to that of this one, without a key. */
export const nestedDocumentPath = '/api/openapi.json';

/**
 * Creates the HTTP app: the API below `/api`, `/healthz`, and signed links to evidence. Lambda and the embedded service
 * use the same app.
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
  app.get(nestedDocumentPath, (context) => context.redirect('/openapi.json', 308));
  // The only path that takes a sign-in code, so before those that do not.
  app.post(
    sessionPath,
    bearerAuth(deps, readSignInCode(deps), readSession(deps)),
    rememberConsole(deps),
    beginSession(deps),
  );
  app.use('/api/*', bearerAuth(deps, readSession(deps)), inNameOfCaller(deps));
  app.delete(sessionPath, endSession);
  app.route('/api', mountEndpoints(deps));
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

/** Does the work of a request in the name of its caller. */
function inNameOfCaller({ asCaller }: Pick<HttpDeps, 'asCaller'>) {
  return createMiddleware<AuthEnv>(async (context, next) =>
    asCaller ? asCaller(context.var.key.caller, next) : next(),
  );
}

/** Forbids browsers to guess the content type: responses quote callers and must not become a page or script. */
function noSniff() {
  return createMiddleware(async (context, next) => {
    await next();
    context.header('X-Content-Type-Options', 'nosniff');
  });
}

/**
 * Converts an error to a 422: an invalid request, also if only the stored state or the deployment refuses it. Returns
 * undefined for others.
 */
function toValidationError(error: Error): ValidationError | undefined {
  if (error instanceof ValidationError) return error;
  if (error instanceof UnservedFieldError) return fieldError(['body', ...error.path], error.message);
  if (error instanceof UnknownConditionError)
    return fieldError(
      ['body', 'condition_id'],
      `use one of ${error.known.map((id) => `'${id}'`).join(', ')}`,
    );
  if (error instanceof IdempotencyKeyReusedError)
    return fieldError(
      ['header', 'Idempotency-Key'],
      'this key was used for another request: use a new key, or send that request unchanged',
    );
  return undefined;
}

function fieldError(loc: (string | number)[], reason: string): ValidationError {
  return new ValidationError([{ loc, type: 'custom', msg: reason }]);
}

/**
 * Handles `GET /healthz`: 200 while the process runs, regardless of the checks, so that no supervisor restarts a
 * service whose model is down. `?deep` adds the checks without their details, because this path requires no key.
 */
function healthz({ health }: { health?: HealthReader }) {
  return async (context: Context): Promise<Response> => {
    context.header('Cache-Control', 'no-store');
    if (context.req.query('deep') === undefined) return context.json({ status: 'ok' });
    const findings = (await health?.read()) ?? [];
    const checks = findings.map(({ check, status, message, next }) => ({ check, status, message, next }));
    return context.json({ status: worstStatus(findings), checks });
  };
}

const linkSchema = z.object({
  watch_id: z.uuid(),
  sequence: z
    .string()
    .regex(/^[1-9]\d{0,9}\.(?:jpg|mp4)$/)
    .transform((name) => Number.parseInt(name, 10)),
  expires: z
    .string()
    .regex(/^\d{1,11}$/)
    .transform(Number),
  signature: z.string().regex(/^[\w-]{43}$/),
  boxes: z.literal('true').optional(),
});

/**
 * Handles `GET /evidence/{watch_id}/{sequence}.jpg`, or `.mp4` for a clip: the evidence of an event, by its signed link
 * instead of a key.
 */
function evidence(deps: Pick<HttpDeps, 'runs' | 'media' | 'now' | 'evidenceLinks' | 'drawBoxes'>) {
  return async (context: Context): Promise<Response> => {
    const link = linkSchema.safeParse({ ...context.req.param(), ...context.req.query() });
    if (!link.success)
      throw new WatchpostError(
        'NOT_FOUND',
        'No such picture',
        'Use the whole link of the event, with expires and signature.',
      );
    const file = await readEvidence(link.data, { ...deps, signer: deps.evidenceLinks.signer });
    return fileResponse(context, file, {
      'Content-Type': context.req.path.endsWith('.mp4') ? 'video/mp4' : 'image/jpeg',
      'Cache-Control': 'no-store',
      'Referrer-Policy': 'no-referrer',
      'Content-Security-Policy': "default-src 'none'",
    });
  };
}

/** Creates the routes of declared endpoints. */
function mountEndpoints(deps: HttpDeps): Hono<AuthEnv> {
  const app = new Hono<AuthEnv>();
  for (const endpoint of endpoints) {
    const path = endpoint.path.replace(/\{(\w+)\}/g, ':$1');
    const checks = [...guards(endpoint, deps), ...validateRequest(endpoint.request)];
    app.on(endpoint.method.toUpperCase(), [path], ...checks, (context) => endpoint.respond(context, deps));
  }
  return app;
}

function guards(
  { maxBodyBytes, scope, fixedHeaders, response }: Endpoint,
  deps: HttpDeps,
): MiddlewareHandler<AuthEnv>[] {
  return [
    ...(scope === 'any' ? [] : [requireScope(scope)]),
    ...(fixedHeaders ? [requireFixedHeaders(fixedHeaders)] : []),
    ...(response.kind === 'json' && response.secret ? [noStore()] : []),
    limitBodies(deps, () => maxBodyBytes),
  ];
}

/** Forbids caches to store a response with a secret. */
function noStore() {
  return createMiddleware(async (context, next) => {
    await next();
    context.header('Cache-Control', 'no-store');
  });
}

/** Requires a scope of the key; throws `ForbiddenError` (403) without it. Runs after `bearerAuth`. */
function requireScope(scope: Scope) {
  return createMiddleware<AuthEnv>(async (context, next) => {
    if (!hasScope(context.get('key').scopes, scope)) throw lacks(scope);
    await next();
  });
}

/** Requires these headers with these values; throws `ForbiddenError` (403) otherwise (internal calls, I-5.6). */
function requireFixedHeaders(headers: Record<string, string>) {
  return createMiddleware<AuthEnv>(async (context, next) => {
    for (const [name, value] of Object.entries(headers)) {
      if (context.req.header(name) !== value)
        throw new ForbiddenError(`Internal calls send the header "${name}: ${value}".`);
    }
    await next();
  });
}

function lacks(scope: Scope): ForbiddenError {
  return new ForbiddenError(`Use a key with the scope "${scope}".`);
}

const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;

/**
 * Handles requests that match no route: 404 for an unknown path, with the most similar address; 405 with `Allow` for a
 * method that the path does not support. OPTIONS returns `Allow` with 204. `/` redirects a browser to the console.
 */
function fallbackHandler<E extends Env>(app: Hono<E>) {
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

import { Hono, type Context, type MiddlewareHandler } from 'hono';
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
import { fallbackHandler } from './fallback.ts';
import { createMiddleware } from 'hono/factory';
import { ValidationError } from './validation.ts';
import { worstStatus, type HealthReader } from '../../core/ports/observability.ts';
import { hasScope, type Scope } from '../../core/records/key.ts';
import { z } from 'zod';
import { fileResponse } from './byte-range.ts';
import type { Endpoint } from './endpoint.ts';
import { limitBodies } from './request-bodies.ts';
import { validateRequest } from './validate-request.ts';

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
  if (error instanceof UnservedFieldError) return refuse(['body', ...error.path], error.message);
  if (error instanceof UnknownConditionError)
    return refuse(['body', 'condition_id'], `use one of ${error.known.map((id) => `'${id}'`).join(', ')}`);
  if (error instanceof IdempotencyKeyReusedError)
    return refuse(
      ['header', 'Idempotency-Key'],
      'this key was used for another request: use a new key, or send that request unchanged',
    );
  return undefined;
}

function refuse(loc: (string | number)[], reason: string): ValidationError {
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

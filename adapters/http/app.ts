import { Hono, type Context } from 'hono';
import {
  RateLimitedError,
  ServiceOverloadedError,
  IdempotencyKeyReusedError,
  UnknownConditionError,
  UnservedFieldError,
} from '../../core/errors.ts';
import { bearerAuth, type AuthEnv } from './bearer-auth.ts';
import { beginSession, endSession, readSession, readSignInCode, sessionPath } from './console-session.ts';
import type { HttpDeps } from './dependencies.ts';
import { allowOrigins } from './cors.ts';
import { endpoints } from './endpoints/endpoints.ts';
import { evidencePath } from '../../core/delivery/evidence-link.ts';
import { errorResponse } from './error-envelope.ts';
import { evidence } from './evidence.ts';
import { guardHost } from './guard-host.ts';
import { mountEndpoints } from './mount-endpoints.ts';
import { fallbackHandler } from './fallback.ts';
import { createMiddleware } from 'hono/factory';
import { ValidationError } from './validation.ts';
import { worstStatus, type HealthReader } from '../../core/ports/health.ts';
import { hasScope } from '../../core/records/key.ts';

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

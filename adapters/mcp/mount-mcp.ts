import type { Hono } from 'hono';
import { withCallLimit } from '../../core/access/call-admission.ts';
import type { CoreDeps } from '../../core/dependencies.ts';
import { hasScope, type Scope } from '../../core/records/key.ts';
import { endpoints } from '../http/endpoints/endpoints.ts';
import { exceedsJsonLimits } from '../json-limits.ts';
import { bearerAuth } from '../http/bearer-auth.ts';
import type { AuthEnv, AuthDeps } from '../http/bearer-auth.ts';
import { allowOrigins } from '../http/cors.ts';
import { limitBodies } from '../http/request-bodies.ts';
import type { RequestBodies } from '../http/request-bodies.ts';
import { createMiddleware } from 'hono/factory';
import { WatchpostError } from '../../core/errors.ts';
import { toHostname, isLoopback } from '../http/guard-host.ts';
import { parseJson } from '../../core/parse-json.ts';

/** Size above which a body counts as a call, in bytes. */
const largeBytes = 256_000;

/** Codes of errors (jsonrpc.org/specification#error_object). */
const [parseError, invalidRequest, serverError] = [-32_700, -32_600, -32_000];

/** Size of the envelope of JSON-RPC, in bytes. */
const envelopeBytes = 100_000;

/**
 * Returns the maximum body of a key, in bytes: that of the endpoints which it may call. The API enforces its own
 * limits.
 */
function maxBodyBytes(scopes: readonly Scope[]): number {
  const allowed = endpoints.filter(({ scope }) => scope === 'any' || hasScope(scopes, scope));
  return envelopeBytes + Math.max(0, ...allowed.map(({ maxBodyBytes: bytes }) => bytes));
}

/**
 * Adds `/mcp` to the app: the streamable HTTP transport without sessions, which responds to each POST with JSON. The
 * first message loads the SDK, which takes a fifth of a start.
 */
export function mountMcp(
  app: Hono<AuthEnv>,
  deps: AuthDeps &
    Pick<CoreDeps, 'calls'> & {
      baseUrl: string;
      bodies: RequestBodies;
      allowedOrigins: readonly string[];
      version: string;
    },
): void {
  if (deps.allowedOrigins.length > 0) app.use('/mcp', allowOrigins(deps));
  app.use('/mcp', originGuard(deps), bearerAuth(deps), limitBodies(deps, maxBodyBytes));
  app.post('/mcp', async (context) => {
    const { caller, scopes } = context.get('key');
    const bytes = await context.get('readBody')();
    // Only pictures are large; other bodies of their size cost as much.
    const read = async () => readLimited(new TextDecoder().decode(bytes));
    const message = await (bytes.length > largeBytes ? withCallLimit(caller, deps, read) : read());
    if (message === undefined)
      return jsonRpcError(400, parseError, 'Request body is no JSON, or has too many levels or values');
    if (Array.isArray(message)) return jsonRpcError(400, invalidRequest, noBatches);
    const { respondTo } = await import('./mcp-server.ts');
    return respondTo(message, context.req.raw, {
      version: deps.version,
      authorization: context.req.header('Authorization') ?? '',
      scopes,
      request: async ({ path, init }) =>
        app.request(`/api${path}`, { ...init, signal: context.req.raw.signal }, context.env),
    });
  });
  // No sessions exist, so there is no stream to open and nothing to delete: 405, as the specification requires.
  app.all('/mcp', () =>
    jsonRpcError(405, serverError, 'Method not allowed: this server has no sessions. Use POST.', {
      Allow: 'POST',
    }),
  );
}

/** Batches were removed in revision 2025-06-18; a batch would be many calls in one request. */
const noBatches = 'JSON-RPC batches are not supported. Send each JSON-RPC message in its own POST.';

function readLimited(text: string): unknown {
  return exceedsJsonLimits(text) ? undefined : parseJson(text);
}

function jsonRpcError(
  status: number,
  code: number,
  message: string,
  headers: Record<string, string> = {},
): Response {
  return Response.json({ jsonrpc: '2.0', error: { code, message }, id: null }, { status, headers });
}

/**
 * Rejects requests from pages of other sites, as the MCP specification requires. `Origin` must be the requested host,
 * which
 * `guardHost` has accepted, this machine, or an allowed origin.
 */
function originGuard({ baseUrl, allowedOrigins }: { baseUrl: string; allowedOrigins: readonly string[] }) {
  const ownOrigin = new URL(baseUrl).origin;
  return createMiddleware(async (c, next) => {
    const origin = c.req.header('Origin');
    const isAllowed =
      origin === undefined ||
      origin === ownOrigin ||
      allowedOrigins.includes(origin) ||
      isLoopback(toHostname(origin)) ||
      (URL.canParse(origin) && new URL(origin).host === c.req.header('Host'));
    if (!isAllowed) throw originRefusedError();
    await next();
  });
}

function originRefusedError(): WatchpostError {
  return new WatchpostError(
    'FORBIDDEN',
    'Requests with this Origin header are rejected',
    'Call from an MCP client, or from a page of this host.',
  );
}

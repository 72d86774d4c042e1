import { WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js';
import { ErrorCode } from '@modelcontextprotocol/sdk/types.js';
import type { Hono } from 'hono';
import { bearerAuth } from '../http/bearer-auth.ts';
import type { AuthEnv, AuthDeps } from '../http/bearer-auth.ts';
import { limitBodies } from '../http/limit-bodies.ts';
import type { RequestBodies } from '../http/request-bodies.ts';
import { mcpServer } from './mcp-server.ts';
import { originGuard } from './origin-guard.ts';

/** The API's 5 MB, and what JSON-RPC wraps around them; the API still refuses what is too large for it. */
const maxBodyBytes = 5_100_000;

/**
 * Adds `/mcp` to the app: the streamable HTTP transport without sessions, which answers each POST with JSON. Nothing is kept between
 * requests, so any instance of a function can answer any of them. Apart from `createApp`, since the SDK weighs on a cold start.
 */
export function mountMcp(
  app: Hono<AuthEnv>,
  deps: AuthDeps & { baseUrl: string; bodies: RequestBodies },
): void {
  app.use(
    '/mcp',
    originGuard(deps),
    bearerAuth(deps),
    limitBodies(deps, () => maxBodyBytes),
  );
  app.post('/mcp', async (context) => {
    const message = parseJson(new TextDecoder().decode(await context.get('readBody')()));
    if (message === undefined) return jsonRpcError(400, ErrorCode.ParseError, 'Request body is not JSON');
    if (Array.isArray(message)) return jsonRpcError(400, ErrorCode.InvalidRequest, noBatches);
    const server = mcpServer({
      authorization: context.req.header('Authorization') ?? '',
      scopes: context.get('key').scopes,
      request: async ({ path, init }) =>
        app.request(`/api${path}`, { ...init, signal: context.req.raw.signal }, context.env),
    });
    const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true });
    await server.connect(transport);
    try {
      return await transport.handleRequest(context.req.raw, { parsedBody: message });
    } finally {
      await server.close();
    }
  });
  // No session, so there is no stream to open and nothing to delete: 405, as the specification says.
  app.all('/mcp', () =>
    jsonRpcError(405, -32_000, 'Method not allowed: this server keeps no sessions. Use POST.', {
      Allow: 'POST',
    }),
  );
}

/** The revision of 2025-06-18 has removed batches; one that is handled would be many calls for one request. */
const noBatches =
  'A request is one JSON-RPC message: batches are not supported. Send each message in a POST of its own.';

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function jsonRpcError(
  status: number,
  code: number,
  message: string,
  headers: Record<string, string> = {},
): Response {
  return Response.json({ jsonrpc: '2.0', error: { code, message }, id: null }, { status, headers });
}

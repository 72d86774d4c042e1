import { WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js';
import type { Hono } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { bearerAuth } from '../http/bearer-auth.ts';
import type { AuthEnv, AuthNeeds } from '../http/bearer-auth.ts';
import { mcpServer } from './mcp-server.ts';
import { originGuard } from './origin-guard.ts';

/** The API's 5 MB, and what JSON-RPC wraps around them; the API still refuses what is too large for it. */
const bodyBytes = 5_100_000;

/**
 * Adds `/mcp` to the app: the streamable HTTP transport without sessions, which answers each POST with JSON. Nothing is kept between
 * requests, so any instance of a function can answer any of them. Apart from `createApp`, since the SDK weighs on a cold start.
 */
export function mountMcp(app: Hono<AuthEnv>, c: AuthNeeds & { baseUrl: string }): void {
  app.use('/mcp', originGuard(c), bearerAuth(c));
  app.post('/mcp', bodyLimit({ maxSize: bodyBytes, onError: tooLarge }), async (context) => {
    const server = mcpServer({
      authorization: context.req.header('Authorization') ?? '',
      scopes: context.get('key').scopes,
      request: async ({ path, init }) =>
        app.request(`/api${path}`, { ...init, signal: context.req.raw.signal }, context.env),
    });
    const transport = new WebStandardStreamableHTTPServerTransport({
      enableJsonResponse: true,
      maxRequestBodySize: bodyBytes,
    });
    await server.connect(transport);
    try {
      return await transport.handleRequest(context.req.raw);
    } finally {
      await server.close();
    }
  });
  // No session, so there is no stream to open and nothing to delete: 405, as the specification says.
  app.all('/mcp', () =>
    jsonRpcError(405, 'Method not allowed: this server keeps no sessions. Use POST.', { Allow: 'POST' }),
  );
}

function tooLarge(): Response {
  return jsonRpcError(413, 'Request body is too large');
}

function jsonRpcError(status: number, message: string, headers: Record<string, string> = {}): Response {
  return Response.json({ jsonrpc: '2.0', error: { code: -32_000, message }, id: null }, { status, headers });
}

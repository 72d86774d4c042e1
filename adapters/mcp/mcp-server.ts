import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import {
  CallToolRequestSchema,
  ErrorCode,
  ListToolsRequestSchema,
  McpError,
} from '@modelcontextprotocol/sdk/types.js';
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import { hasScope } from '../../core/records/key.ts';
import type { Scope } from '../../core/records/key.ts';
import { endpoints } from '../http/endpoints/endpoints.ts';
import { ValidationError } from '../http/validation.ts';
import { apiCall } from './arguments.ts';
import type { ApiCall, Arguments } from './arguments.ts';
import { toStructuredResult, toolResult } from './tool-result.ts';
import { toTool } from './tool.ts';

/** Caller of a tool, and the function that sends its requests to the API. */
export type McpCaller = {
  version: string;
  authorization: string;
  scopes: readonly Scope[];
  request: (call: ApiCall) => Promise<Response>;
};

const byName = new Map(
  endpoints
    .filter(({ withoutTool }) => !withoutTool)
    .map((endpoint) => [endpoint.id, { endpoint, tool: toTool(endpoint) }]),
);

const instructions =
  'Watches live video streams. check_once answers one yes/no question about a stream now; live_monitor starts a job that alerts when a condition holds; live_digest starts one that summarizes each window. Follow a job with job_events (send next_after as after) and get the evidence with job_picture. A failed call contains a remediation.';

/**
 * Creates an MCP server whose tools are the endpoints of the API. Each call is a request to the API, so that keys, limits,
 * defaults and errors are the same. The SDK's high-level server would validate arguments with its own messages.
 */
export function mcpServer({ version, authorization, scopes, request }: McpCaller): Server {
  const server = new Server(
    { name: 'watchpost', title: 'Watchpost', version },
    { capabilities: { tools: {} }, instructions },
  );
  server.setRequestHandler(ListToolsRequestSchema, () => ({
    tools: [...byName.values()]
      .filter(({ endpoint: { scope } }) => scope === 'any' || hasScope(scopes, scope))
      .map(({ tool }) => tool),
  }));
  server.setRequestHandler(CallToolRequestSchema, ({ params }) =>
    call(params.name, params.arguments ?? {}, { authorization, request }),
  );
  return server;
}

async function call(
  name: string,
  given: Arguments,
  { authorization, request }: Pick<McpCaller, 'authorization' | 'request'>,
): Promise<CallToolResult> {
  const known = byName.get(name);
  if (!known) throw new McpError(ErrorCode.InvalidParams, `Unknown tool: ${name}`);
  try {
    return await toolResult(known.endpoint, await request(apiCall(known.endpoint, given, authorization)));
  } catch (error) {
    if (error instanceof ValidationError)
      return { ...toStructuredResult({ detail: error.detail }), isError: true };
    throw error;
  }
}

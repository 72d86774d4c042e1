import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js';
import {
  CallToolRequestSchema,
  ErrorCode,
  ListToolsRequestSchema,
  McpError,
  type CallToolResult,
  type Tool,
  type ToolAnnotations,
} from '@modelcontextprotocol/sdk/types.js';
import { hasScope, type Scope } from '../../core/records/key.ts';
import { endpoints } from '../http/endpoints/endpoints.ts';
import { ValidationError, validationError, type ObjectSchema } from '../http/validate-request.ts';
import { z } from 'zod';
import type { EndpointDeclaration, Effect, Endpoint } from '../http/endpoint.ts';
import { jsonSchema } from '../openapi/json-schema.ts';
import type { EndpointResponse } from '../http/endpoint-response.ts';
import { describeIgnored, findUnknownFields } from '../../core/requests/unknown-fields.ts';

/**
 * Requests by the words that texts use for them (`GET /jobs/{job_id}`), longest first, and the tools that send them.
 */
const toolNames = endpoints
  .map(({ id, method, path }) => ({ words: `${method.toUpperCase()} ${path}`, id }))
  .toSorted((a, b) => b.words.length - a.words.length);

const headerNames = [
  ...new Set(endpoints.flatMap(({ request }) => Object.keys(request.headers?.shape ?? {}))),
];

/** Returns an endpoint as an MCP tool: its name, and the schemas of its arguments and of its structured content. */
function toTool(endpoint: EndpointDeclaration): Tool {
  return {
    name: endpoint.id,
    title: endpoint.title,
    description: toolDescription(endpoint),
    inputSchema: {
      ...schemaInToolTerms(z.object(argumentFields(endpoint)), 'request'),
      type: 'object',
    },
    ...outputSchema(endpoint.response),
    annotations: {
      ...annotations[endpoint.effect],
      idempotentHint: endpoint.idempotent ?? isReading(endpoint),
    },
  };
}

/**
 * Returns the schema of the response or of one of the two error bodies, because clients validate the content of a
 * failed call against the same schema. An image becomes an image block and is left out.
 */
function outputSchema(response: EndpointResponse): Pick<Tool, 'outputSchema'> {
  if (response.kind !== 'json') return {};
  const { picture, schema: whole } = response;
  const schema = picture && whole instanceof z.ZodObject ? whole.omit({ [picture]: true }) : whole;
  return { outputSchema: { type: 'object', anyOf: [schemaInToolTerms(schema, 'response'), ...failures] } };
}

/**
 * Both bodies of a failed call, only as far as clients need to tell them apart: each tool has them, and the API
 * documents their codes.
 */
const textSchema = { type: 'string' };
const failures = [
  {
    type: 'object',
    properties: {
      error: {
        type: 'object',
        properties: { code: textSchema, message: textSchema, remediation: textSchema },
        required: ['code', 'message', 'remediation'],
      },
    },
    required: ['error'],
  },
  {
    type: 'object',
    properties: { detail: { type: 'array', items: { type: 'object' } } },
    required: ['detail'],
  },
];

const annotations: Record<Effect, ToolAnnotations> = {
  reads: { readOnlyHint: true, openWorldHint: false },
  probes: { readOnlyHint: true, openWorldHint: true },
  starts: { readOnlyHint: false, destructiveHint: false, openWorldHint: true },
  changes: { readOnlyHint: false, destructiveHint: false, openWorldHint: false },
  removes: { readOnlyHint: false, destructiveHint: true, openWorldHint: false },
};

function isReading({ effect }: EndpointDeclaration): boolean {
  return effect === 'reads' || effect === 'probes';
}

function schemaInToolTerms(schema: z.ZodType, direction: 'request' | 'response') {
  return textsInToolTerms(jsonSchema(schema, direction), ['description']);
}

const objectSchema = z.record(z.string(), z.unknown());

/**
 * Converts a response of the API to a tool result. An error is a result too, so that the model reads its remediation.
 */
async function toolResult(endpoint: EndpointDeclaration, response: Response): Promise<CallToolResult> {
  const declared = endpoint.response;
  if (response.ok && declared.kind === 'jpeg') {
    return { content: [jpeg(Buffer.from(await response.arrayBuffer()).toString('base64'))] };
  }
  const body = objectSchema.parse(await response.json());
  if (!response.ok) return { ...toStructuredResult(body), isError: true };
  const picture = declared.kind === 'json' ? declared.picture : undefined;
  if (picture === undefined) return toStructuredResult(body);
  const { [picture]: frame, ...rest } = body;
  const { content, structuredContent } = toStructuredResult(rest);
  return { content: [...content, ...(typeof frame === 'string' ? [jpeg(frame)] : [])], structuredContent };
}

/** Maximum length of the text of a result, in characters: about 7,000 tokens, which clients accept. */
const maxTextCharacters = 25_000;

/**
 * Creates a result with the same content as text, for clients that do not read structured content. Cuts a long text.
 */
export function toStructuredResult(body: Record<string, unknown>) {
  const structuredContent = textsInToolTerms(body, ['message', 'remediation']);
  return {
    content: [{ type: 'text' as const, text: cut(JSON.stringify(structuredContent)) }],
    structuredContent,
  };
}

function cut(result: string): string {
  if (result.length <= maxTextCharacters) return result;
  const start = result.slice(0, maxTextCharacters).toWellFormed();
  return `${start}… (cut after ${maxTextCharacters} of ${result.length} characters: read the structured content, or request less with limit)`;
}

function jpeg(data: string) {
  return { type: 'image' as const, mimeType: 'image/jpeg', data };
}

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
  'Watches live video streams. check_once answers one yes/no question about a stream now; live_monitor starts a job that alerts when a condition holds; live_digest starts one that summarizes each window. Follow a job with job_events (send next_after as after) and get the evidence with job_picture. create_watch watches for good: ask_moments says what happened, list_alerts lists its alerts. A failed call contains a remediation.';

/** Responds to a message with JSON. No state is kept between requests, so any instance can serve any request. */
export async function respondTo(message: unknown, raw: Request, caller: McpCaller): Promise<Response> {
  const server = createServer(caller);
  const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true });
  await server.connect(transport);
  try {
    return await transport.handleRequest(acceptBoth(raw), { parsedBody: message });
  } finally {
    await server.close();
  }
}

/**
 * Returns the request with the `Accept` that the SDK requires: many clients send `*\/*`, or none. The response is JSON
 * in any case.
 */
function acceptBoth(request: Request): Request {
  const headers = new Headers(request.headers);
  headers.set('Accept', 'application/json, text/event-stream');
  return new Request(request.url, { method: request.method, headers });
}

/**
 * Creates an MCP server whose tools are the endpoints of the API. Each call is a request to the API, so that keys,
 * limits, defaults and errors are the same. The SDK's high-level server would validate arguments with its own messages.
 */
function createServer({ version, authorization, scopes, request }: McpCaller): Server {
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
  const tool = byName.get(name);
  if (!tool) throw new McpError(ErrorCode.InvalidParams, `Unknown tool: ${name}`);
  try {
    const response = await request(apiCall(tool.endpoint, given, authorization));
    const { content, ...result } = await toolResult(tool.endpoint, response);
    const notice = describeIgnoredArguments(tool.endpoint, given);
    return {
      ...result,
      content: notice === undefined ? content : [...content, { type: 'text', text: notice }],
    };
  } catch (error) {
    if (error instanceof ValidationError)
      return { ...toStructuredResult({ detail: error.detail }), isError: true };
    throw error;
  }
}

/**
 * Converts a text about the HTTP API to the terms of a tool's caller: requests become tools, and headers arguments.
 *
 * @example
 * 'Cancel one with DELETE /jobs/{job_id}.' → 'Cancel one with cancel_job.'
 */
function inToolTerms(text: string): string {
  const withTools = toolNames.reduce((all, { words, id }) => all.replaceAll(words, id), text);
  return headerNames.reduce((all, name) => all.replaceAll(name, argumentName(name)), withTools);
}

/** Returns the description of a tool: its own, or that of its endpoint in the terms of tools. */
function toolDescription({ tool, description }: Pick<EndpointDeclaration, 'tool' | 'description'>): string {
  return tool?.description ?? inToolTerms(description);
}

/** Converts the texts of an object: the values of properties with one of these names, at any depth. */
function textsInToolTerms(value: object, names: readonly string[]): Record<string, unknown> {
  const text = JSON.stringify(value, (name, inner: unknown) =>
    typeof inner === 'string' && names.includes(name) ? inToolTerms(inner) : inner,
  );
  return objectSchema.parse(JSON.parse(text));
}

type Arguments = Record<string, unknown>;

/** Parts of an endpoint from which a request is built. */
export type CallableEndpoint = Pick<Endpoint, 'method' | 'path' | 'request' | 'fixedHeaders' | 'tool'>;

/** Request to the API of this service. */
type ApiCall = { path: string; init: { method: string; headers: Headers; body?: string } };

/**
 * Converts a tool's arguments to a request. Validates only the path, because a path without its job id would be another
 * endpoint; the API validates the rest. Throws `ValidationError`.
 */
export function apiCall(endpoint: CallableEndpoint, given: Arguments, authorization: string): ApiCall {
  const { method, request } = endpoint;
  const path = `${toPath(endpoint, given)}${toQuery(endpoint, given)}`;
  const headers = toHeaders(endpoint, given, authorization);
  if (!request.body) return { path, init: { method: method.toUpperCase(), headers } };
  headers.set('Content-Type', 'application/json');
  return {
    path,
    init: { method: method.toUpperCase(), headers, body: JSON.stringify(toBody(endpoint, given)) },
  };
}

/**
 * Describes the arguments that the tool does not have, as the API does: they are ignored. Returns undefined without
 * any.
 */
function describeIgnoredArguments(endpoint: CallableEndpoint, given: Arguments): string | undefined {
  return describeIgnored(findUnknownFields(given, Object.keys(argumentFields(endpoint))));
}

function toPath({ path, request }: CallableEndpoint, given: Arguments): string {
  if (!request.parameters) return path;
  const parsed = request.parameters.safeParse(given);
  if (!parsed.success) throw validationError(parsed.error.issues, given, 'path');
  return path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(asText(given[name])));
}

function toQuery({ request }: CallableEndpoint, given: Arguments): string {
  const search = new URLSearchParams();
  for (const name of listNames(request.query)) {
    const value = given[name];
    if (value !== undefined && value !== null) search.set(name, asText(value));
  }
  return search.size === 0 ? '' : `?${search.toString()}`;
}

function toHeaders(
  { request, fixedHeaders }: CallableEndpoint,
  given: Arguments,
  authorization: string,
): Headers {
  const sent = new Headers({ Authorization: authorization, ...fixedHeaders });
  for (const name of listNames(request.headers)) {
    const value = given[argumentName(name)];
    if (value !== undefined && value !== null) sent.set(name, headerText(name, asText(value)));
  }
  return sent;
}

/** Merges path, query, body and header parameters by their argument names; the names do not collide (tested). */
function argumentFields({
  request: { parameters, query, headers, body },
  tool,
}: Pick<CallableEndpoint, 'request' | 'tool'>): ObjectSchema['shape'] {
  const taken = Object.entries(headers?.shape ?? {}).filter(
    ([name]) => !tool?.withoutHeaders?.includes(name),
  );
  const fromHeaders = taken.map(([name, field]) => [argumentName(name), field] as const);
  return { ...parameters?.shape, ...query?.shape, ...body?.shape, ...Object.fromEntries(fromHeaders) };
}

function toBody({ request }: CallableEndpoint, given: Arguments): Arguments {
  const elsewhere = new Set([
    ...listNames(request.parameters),
    ...listNames(request.query),
    ...listNames(request.headers).map(argumentName),
  ]);
  return Object.fromEntries(Object.entries(given).filter(([name]) => !elsewhere.has(name)));
}

function listNames(schema: ObjectSchema | undefined): string[] {
  return Object.keys(schema?.shape ?? {});
}

/** Throws `ValidationError` for characters that an HTTP header cannot hold. */
function headerText(name: string, text: string): string {
  if (/^[ -~]*$/.test(text)) return text;
  throw new ValidationError([
    { loc: ['header', name], type: 'custom', msg: 'Use printable ASCII characters only' },
  ]);
}

function asText(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** Converts a header name to an argument name: `Idempotency-Key` to `idempotency_key`. */
function argumentName(header: string): string {
  return header.toLowerCase().replaceAll('-', '_');
}

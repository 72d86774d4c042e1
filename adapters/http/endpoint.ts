import type { Context } from 'hono';
import type { ErrorCode } from '../../core/errors.ts';
import type { ApiKey, Scope } from '../../core/records/key.ts';
import { describeIgnored, type UnknownField } from '../../core/requests/unknown-fields.ts';
import { withCallLimit } from '../../core/access/call-admission.ts';
import type { AuthEnv } from './bearer-auth.ts';
import type { HttpDeps } from './dependencies.ts';
import { noticeHeader, toHeaderText, type EndpointResponse, type ResponseWith } from './endpoint-response.ts';
import { validParts, type OwnSchemas, type RequestParts, type RequestSchemas } from './validate-request.ts';

/** Declaration of an endpoint: routes, OpenAPI document, MCP tools, AWS edge and reference page are read from it. */
export type EndpointDeclaration = {
  /** `operationId` of the OpenAPI document, and name of the MCP tool. */
  id: string;
  method: 'get' | 'post' | 'put' | 'patch' | 'delete';
  /** Path below the base URL, with parameters in braces. */
  path: string;
  tag: Tag;
  title: string;
  description: string;
  /** Scope that a key needs; `any` only if each key may call it. */
  scope: Scope | 'any';
  effect: Effect;
  /** True if a repeated call has no further effect; default: true for calls that read. */
  idempotent?: boolean;
  /** Differences of the MCP tool: its own description, and headers that have no meaning for it. */
  tool?: { description?: string; withoutHeaders?: readonly string[] };
  /** The endpoint is no MCP tool: it would repeat another one, or take a password through a model. */
  withoutTool?: true;
  /** Absent if calls are not limited. */
  rateLimit?: RateLimitClass;
  /** Maximum time to the response, or to the first byte of an event stream; default 10 s. Decides the origin on AWS. */
  timeBudgetSeconds?: number;
  /** Maximum size of the request body, in bytes; default 32 kB. */
  maxBodyBytes?: number;
  request: RequestSchemas;
  /** Headers that callers must send, with their only value. */
  fixedHeaders?: Record<string, string>;
  response: EndpointResponse;
  /** Error codes besides those that `endpointErrorCodes` derives from the declaration. */
  errors: readonly ErrorCode[];
  examples: Examples;
};

export type Tag = 'checks' | 'jobs' | 'watches' | 'webhooks' | 'access' | 'operations';

/** `probes` and `starts` send requests to other machines; `removes` deletes or revokes. */
export type Effect = 'reads' | 'probes' | 'starts' | 'changes' | 'removes';

/**
 * Calls that count against the caller's `CallLimiter`: every call, or only one that creates. The handler applies the
 * latter.
 */
export type RateLimitClass = 'calls' | 'creations';

/** Example values, by a name that describes them. */
export type Examples = { parameters?: Record<string, string | number>; body?: Named; response?: Named };
export type Named = Record<string, unknown>;

/** Validated input of an endpoint, and who sent it. */
export type EndpointRequest<Schemas extends OwnSchemas> = RequestParts<Schemas> & Call;

export type Call = {
  key: ApiKey;
  caller: string;
  /** Time before the call waited for its limits. */
  startedAt: Date;
  setHeader: (name: string, value: string) => void;
  /** Fields of the body that the schema does not have; they are ignored. */
  unknown: UnknownField[];
  /** Only for event streams, which `sse/` reads itself, and for the signal of the request. */
  context: Context<AuthEnv>;
};

/** Defaults: a body above what the schemas accept, with every character escaped. */
const defaults = { timeBudgetSeconds: 10, maxBodyBytes: 32_000 };

/** Declaration with its defaults, and the handler behind its limits, for validated requests. */
export type Endpoint = EndpointDeclaration & {
  timeBudgetSeconds: number;
  maxBodyBytes: number;
  respond: (context: Context<AuthEnv>, deps: HttpDeps) => Promise<Response>;
};

/**
 * Joins a declaration and its handler. The handler gets what the request schemas return and must return what the
 * response schema accepts.
 */
export function defineEndpoint<Schemas extends OwnSchemas, Body>(
  declaration: EndpointDeclaration & { request: Schemas; response: ResponseWith<Body> },
  handler: (request: EndpointRequest<Schemas>, deps: HttpDeps) => Promise<Body>,
): Endpoint {
  return {
    ...defaults,
    ...declaration,
    respond: async (context, deps) => {
      const parts = validParts(context, declaration.request);
      const unknown = context.get('unknown') ?? [];
      const key = context.get('key');
      const setHeader = (name: string, value: string) => context.header(name, value);
      const call = { key, caller: key.caller, startedAt: deps.now(), setHeader, unknown, context };
      const handle = () => handler({ ...parts, ...call }, deps);
      const notice = describeIgnored(unknown);
      if (notice !== undefined) setHeader(noticeHeader, toHeaderText(notice));
      const body =
        declaration.rateLimit === 'calls' ? await withCallLimit(key.caller, deps, handle) : await handle();
      return declaration.response.toResponse(context, body);
    },
  };
}

/** Returns every code that an endpoint can respond with. */
export function endpointErrorCodes({
  errors,
  request,
  response,
  rateLimit,
}: EndpointDeclaration): ErrorCode[] {
  const isLimited = rateLimit !== undefined || isStream(response) || request.body !== undefined;
  const all: ErrorCode[] = [
    ...errors,
    ...(isLimited ? (['RATE_LIMITED'] as const) : []),
    'UNAUTHORIZED',
    'FORBIDDEN',
    ...(request.body ? (['PAYLOAD_TOO_LARGE', 'REQUEST_TIMEOUT'] as const) : []),
    'INTERNAL_ERROR',
  ];
  return [...new Set(all)];
}

/** Returns true if the response can be an event stream. */
export function isStream(response: EndpointResponse): boolean {
  return response.kind === 'json' && response.asEvents !== undefined;
}

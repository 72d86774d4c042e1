import { ValidationError, validationError } from '../http/validation.ts';
import type { Endpoint } from '../http/endpoint.ts';
import type { ObjectSchema } from '../http/validate-request.ts';
import { describeIgnored, findUnknownFields } from '../../core/requests/unknown-fields.ts';

export type Arguments = Record<string, unknown>;

/** Parts of an endpoint from which a request is built. */
export type CallableEndpoint = Pick<Endpoint, 'method' | 'path' | 'request' | 'fixedHeaders' | 'tool'>;

/** Request to the API of this service. */
export type ApiCall = { path: string; init: { method: string; headers: Headers; body?: string } };

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
export function describeIgnoredArguments(endpoint: CallableEndpoint, given: Arguments): string | undefined {
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
export function argumentFields({
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
export function argumentName(header: string): string {
  return header.toLowerCase().replaceAll('-', '_');
}

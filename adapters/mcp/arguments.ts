import { ValidationError, validationError } from '../http/validation.ts';
import type { Endpoint } from '../http/endpoint.ts';
import type { ObjectSchema } from '../http/read-request.ts';

export type Arguments = Record<string, unknown>;

/** Parts of an endpoint that a request is made from. */
export type CallableEndpoint = Pick<Endpoint, 'method' | 'path' | 'request' | 'fixedHeaders'>;

/** A request to our own API. */
export type ApiCall = { path: string; init: { method: string; headers: Headers; body?: string } };

/**
 * A tool's arguments as the request that they stand for. Only the path is checked here, since a path without its job would be
 * another endpoint; everything else is for the API to judge. Throws `ValidationError`.
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

/** `Idempotency-Key` is the argument `idempotency_key`. */
export function argumentName(header: string): string {
  return header.toLowerCase().replaceAll('-', '_');
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

/** All that went nowhere else: what the schema does not know is the API's to ignore. */
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

/** What a header can carry; a client over HTTP could not have sent anything else. */
function headerText(name: string, text: string): string {
  if (/^[ -~]*$/.test(text)) return text;
  throw new ValidationError([
    { loc: ['header', name], type: 'value_error', msg: 'Value error, use printable ASCII characters only' },
  ]);
}

function asText(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

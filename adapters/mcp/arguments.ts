import { ValidationError, validationError } from '../http/validation.ts';
import type { ObjectSchema, Operation } from '../openapi/operation.ts';

export type Arguments = Record<string, unknown>;

/** A request to our own API. */
export type ApiCall = { path: string; init: { method: string; headers: Headers; body?: string } };

/**
 * A tool's arguments as the request that they stand for. Only the path is checked here, since a path without its job would be
 * another endpoint; everything else is for the API to judge. Throws `ValidationError`.
 */
export function apiCall(operation: Operation, given: Arguments, authorization: string): ApiCall {
  const { method, body } = operation;
  const path = `${pathOf(operation, given)}${queryOf(operation, given)}`;
  const headers = headersOf(operation, given, authorization);
  if (!body) return { path, init: { method: method.toUpperCase(), headers } };
  headers.set('Content-Type', 'application/json');
  return {
    path,
    init: { method: method.toUpperCase(), headers, body: JSON.stringify(bodyOf(operation, given)) },
  };
}

/** `Idempotency-Key` is the argument `idempotency_key`. */
export function argumentName(header: string): string {
  return header.toLowerCase().replaceAll('-', '_');
}

function pathOf({ path, parameters }: Operation, given: Arguments): string {
  if (!parameters) return path;
  const parsed = parameters.safeParse(given);
  if (!parsed.success) throw validationError(parsed.error.issues, given, 'path');
  return path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(asText(given[name])));
}

function queryOf({ query }: Operation, given: Arguments): string {
  const search = new URLSearchParams();
  for (const name of namesOf(query)) {
    const value = given[name];
    if (value !== undefined && value !== null) search.set(name, asText(value));
  }
  return search.size === 0 ? '' : `?${search.toString()}`;
}

function headersOf({ headers, fixedHeaders }: Operation, given: Arguments, authorization: string): Headers {
  const sent = new Headers({ Authorization: authorization, ...fixedHeaders });
  for (const name of namesOf(headers)) {
    const value = given[argumentName(name)];
    if (value !== undefined && value !== null) sent.set(name, headerText(name, asText(value)));
  }
  return sent;
}

/** All that went nowhere else: what the schema does not know is the API's to ignore. */
function bodyOf({ parameters, query, headers }: Operation, given: Arguments): Arguments {
  const elsewhere = new Set([
    ...namesOf(parameters),
    ...namesOf(query),
    ...namesOf(headers).map(argumentName),
  ]);
  return Object.fromEntries(Object.entries(given).filter(([name]) => !elsewhere.has(name)));
}

function namesOf(schema: ObjectSchema | undefined): string[] {
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

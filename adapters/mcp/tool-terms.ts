import { z } from 'zod';
import type { EndpointDeclaration } from '../http/endpoint.ts';
import { endpoints } from '../http/endpoints/endpoints.ts';
import { argumentName } from './arguments.ts';

/**
 * Requests by the words that texts use for them (`GET /jobs/{job_id}`), longest first, and the tools that send them.
 */
const toolNames = endpoints
  .map(({ id, method, path }) => ({ words: `${method.toUpperCase()} ${path}`, id }))
  .toSorted((a, b) => b.words.length - a.words.length);

const headerNames = [
  ...new Set(endpoints.flatMap(({ request }) => Object.keys(request.headers?.shape ?? {}))),
];

/**
 * Converts a text about the HTTP API to the terms of a tool's caller: requests become tools, and headers arguments.
 *
 * @example
 * 'Cancel one with DELETE /jobs/{job_id}.' → 'Cancel one with cancel_job.'
 */
export function inToolTerms(text: string): string {
  const withTools = toolNames.reduce((all, { words, id }) => all.replaceAll(words, id), text);
  return headerNames.reduce((all, name) => all.replaceAll(name, argumentName(name)), withTools);
}

/** Returns the description of a tool: its own, or that of its endpoint in the terms of tools. */
export function toolDescription({
  tool,
  description,
}: Pick<EndpointDeclaration, 'tool' | 'description'>): string {
  return tool?.description ?? inToolTerms(description);
}

const objectSchema = z.record(z.string(), z.unknown());

/** Converts the texts of an object: the values of properties with one of these names, at any depth. */
export function textsInToolTerms(value: object, names: readonly string[]): Record<string, unknown> {
  const text = JSON.stringify(value, (name, inner: unknown) =>
    typeof inner === 'string' && names.includes(name) ? inToolTerms(inner) : inner,
  );
  return objectSchema.parse(JSON.parse(text));
}

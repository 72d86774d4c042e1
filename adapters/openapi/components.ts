import type { z } from 'zod';
import { apiNames } from '../../core/api-names.ts';
import { componentSchemas, jsonSchema, refTo } from './json-schema.ts';
import type { JsonObject } from './json-schema.ts';

/** Returns the named schemas by name: `bodies` as requests accept them, all others as responses state them. */
export function namedSchemas(bodies: readonly z.ZodType[]): Record<string, JsonObject> {
  const requests = new Set(bodies.map((body) => apiNames.get(body)?.id));
  const accepted = Object.entries(componentSchemas(apiNames, 'request')).filter(([id]) => requests.has(id));
  const schemas = { ...componentSchemas(apiNames, 'response'), ...Object.fromEntries(accepted) };
  return Object.fromEntries(Object.entries(schemas).toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

/** Returns a reference if the schema is named, else the schema. */
export function requestSchema(schema: z.ZodType): JsonObject {
  return refOr(schema) ?? jsonSchema(schema, 'request');
}

export function responseSchema(schema: z.ZodType): JsonObject {
  return refOr(schema) ?? jsonSchema(schema, 'response');
}

function refOr(schema: z.ZodType): JsonObject | undefined {
  const id = apiNames.get(schema)?.id;
  return id === undefined ? undefined : { $ref: refTo(id) };
}

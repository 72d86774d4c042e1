import { z } from 'zod';

/** JSON value of a workflow, as Step Functions passes it between functions. */
export const jsonSchema = z.json();
export type Json = z.infer<typeof jsonSchema>;
export type JsonObject = { [key: string]: Json };

/** Returns a value after a JSON round trip: dates become strings, `undefined` is dropped. Throws on cycles and bigints. */
export function toJson(value: unknown): Json {
  return parseJson(JSON.stringify(value) ?? 'null');
}

function parseJson(text: string): Json {
  return parsedSchema.parse(JSON.parse(text));
}

/** A parsed text holds nothing but JSON: a check of each value would only take time. */
const parsedSchema = z.custom<Json>();

export function isJsonObject(value: Json): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

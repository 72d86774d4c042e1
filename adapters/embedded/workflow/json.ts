import { z } from 'zod';

/** What travels through a workflow: JSON, exactly as Step Functions would carry it between its functions. */
export const jsonSchema = z.json();
export type Json = z.infer<typeof jsonSchema>;
export type JsonObject = { [key: string]: Json };

/** A value as it looks after a trip over the wire: dates are strings, `undefined` is gone. Throws on cycles and bigints. */
export function toJson(value: unknown): Json {
  return parseJson(JSON.stringify(value) ?? 'null');
}

function parseJson(text: string): Json {
  return jsonSchema.parse(JSON.parse(text));
}

export function isJsonObject(value: Json): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

import { z } from 'zod';

/** JSON as the document is made of. */
export type JsonObject = { [name: string]: unknown };

type Direction = 'request' | 'response';

/**
 * The JSON schema (draft 2020-12) of what is sent or answered. Requests say the plain type where the service also takes its text
 * (`"10"` for 10): clients are made from this. Answers stay open, so that a field added later breaks no client.
 */
export function jsonSchema(schema: z.ZodType, direction: Direction): JsonObject {
  return unnamed(z.toJSONSchema(schema, settings(direction)));
}

/** The JSON schemas of a registry by id, in which one refers to another by `#/components/schemas/<id>`. */
export function componentSchemas(
  registry: z.core.$ZodRegistry<{ id: string }>,
  direction: Direction,
): Record<string, JsonObject> {
  const { schemas } = z.toJSONSchema(registry, { ...settings(direction), uri: refTo });
  return Object.fromEntries(Object.entries(schemas).map(([id, schema]) => [id, unnamed(schema)]));
}

export function refTo(id: string): string {
  return `#/components/schemas/${id}`;
}

/** Inside of a document a schema says neither its dialect nor its address. */
function unnamed({ $schema, $id, ...schema }: JsonObject): JsonObject {
  void [$schema, $id];
  return schema;
}

function settings(direction: Direction) {
  return {
    io: direction === 'request' ? 'input' : 'output',
    unrepresentable: 'any',
    override: plainWords,
  } as const;
}

/** What zod leaves out or says too much of. */
function plainWords({ zodSchema, jsonSchema: json }: Parameters<Override>[0]): void {
  const { def } = zodSchema._zod;
  // Zod drops the default of a field that is coerced first; the coercion does not touch it.
  if (def.type === 'default') json.default = def.defaultValue;
  if (json.maximum === Number.MAX_SAFE_INTEGER) delete json.maximum;
  if (json.format !== undefined) delete json.pattern;
  if (json.additionalProperties === false) delete json.additionalProperties;
}

type Override = NonNullable<NonNullable<Parameters<typeof z.toJSONSchema>[1]>['override']>;

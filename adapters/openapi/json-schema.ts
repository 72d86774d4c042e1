import { z } from 'zod';

export type JsonObject = { [name: string]: unknown };

type Direction = 'request' | 'response';

/**
 * Converts a schema to JSON Schema (draft 2020-12). Requests state the plain type even if the service also accepts its
 * text form (`"10"` for 10), since clients are generated from it. Responses stay open, so that a new field breaks no
 * client.
 */
export function jsonSchema(schema: z.ZodType, direction: Direction): JsonObject {
  return unnamed(z.toJSONSchema(schema, settings(direction)));
}

/** Converts a registry to JSON schemas by id, which refer to each other by `#/components/schemas/<id>`. */
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

/** Removes dialect and address, which schemas inside a document do not state. */
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

/** Corrects the output of Zod. */
function plainWords({ zodSchema, jsonSchema: json }: Parameters<Override>[0]): void {
  const { def } = zodSchema._zod;
  // Zod drops the default of a coerced field, although coercion does not change it.
  if (def.type === 'default') json.default = def.defaultValue;
  if (json.maximum === Number.MAX_SAFE_INTEGER) delete json.maximum;
  if (json.minimum === Number.MIN_SAFE_INTEGER) delete json.minimum;
  if (json.format !== undefined) delete json.pattern;
  if (json.additionalProperties === false) delete json.additionalProperties;
}

type Override = NonNullable<NonNullable<Parameters<typeof z.toJSONSchema>[1]>['override']>;

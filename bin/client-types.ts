import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { compile, type JSONSchema } from 'json-schema-to-typescript';
import { format } from 'oxfmt';
import { z } from 'zod';
import { openApiDocument } from '../adapters/openapi/document.ts';

/**
 * Writes `client/openapi-types.ts`: one type per named schema of the OpenAPI document, and for forms the bounds and
 * defaults of each request. An install runs it, and each `npm run check`.
 */

const bound = z.number().optional();
const propertySchema = z.object({
  type: z.string().optional(),
  minimum: bound,
  maximum: bound,
  maxLength: bound,
  maxItems: bound,
  default: z.unknown().optional(),
  anyOf: z.array(z.unknown()).optional(),
});
const objectSchema = z.object({
  properties: z.record(z.string(), z.unknown()).default({}),
  required: z.array(z.string()).default([]),
});

const path = fileURLToPath(new URL('../client/openapi-types.ts', import.meta.url));
const { schemas } = z
  .object({ schemas: z.record(z.string(), z.unknown()) })
  .parse(openApiDocument('https://HOST/api')['components']);
const types = await compile(
  {
    title: 'Everything',
    type: 'object',
    definitions: z.record(z.string(), z.custom<JSONSchema>()).parse(withPlainReferences(schemas)),
  },
  'Everything',
  {
    additionalProperties: false,
    // A tuple per length would reject an ordinary array; the service validates the length.
    ignoreMinAndMaxItems: true,
    bannerComment: '/** Generated from the OpenAPI document by `npm run generate -- client`: do not edit. */',
    format: false,
    unreachableDefinitions: true,
  },
);
const requests = Object.entries(schemas).filter(([name]) => name.endsWith('Request'));
const constants = requests.map(([name, schema]) => writeConstants(name, schema)).join('\n');
const { code } = await format(path, `${withoutRoot(types)}\n${constants}`, {
  printWidth: 110,
  singleQuote: true,
});
// An editor or a compiler that has it open does not read it again for nothing.
if (!existsSync(path) || readFileSync(path, 'utf8') !== code) writeFileSync(path, code);

/** Returns the code of two constants: attributes of the controls of a request, and values of an empty form. */
function writeConstants(name: string, schema: unknown): string {
  const fields = readFields(schema);
  const attributes = Object.fromEntries(fields.map((field) => [field.name, toAttributes(field)]));
  const values = fields.flatMap(({ name: field, isRequired, type, value }) =>
    type === 'array' || type === 'object' || (value === undefined && !(isRequired && type === 'string'))
      ? []
      : [[field, value ?? (isRequired ? '' : null)] as const],
  );
  const names = values.map(([field]) => `'${field}'`).join(' | ') || 'never';
  const prefix = `${name.charAt(0).toLowerCase()}${name.slice(1)}`;
  return `export const ${prefix}Fields = ${JSON.stringify(attributes)} as const;
export const ${prefix}Defaults: Required<Pick<${name}, ${names}>> = ${JSON.stringify(Object.fromEntries(values))};`;
}

type Field = ReturnType<typeof readFields>[number];

/** Returns the fields of an object, those that may be null by what they are otherwise. */
function readFields(schema: unknown) {
  const { properties, required } = objectSchema.parse(schema);
  return Object.entries(properties).map(([name, property]) => {
    const { anyOf, default: value } = propertySchema.parse(property);
    const inner = anyOf?.[0] ?? property;
    return { name, isRequired: required.includes(name), value, inner, ...propertySchema.parse(inner) };
  });
}

/** Returns the attributes of an HTML control by the bounds of its field; those of all fields of an object. */
function toAttributes({
  inner,
  type,
  isRequired,
  minimum: min,
  maximum: max,
  maxLength,
  maxItems,
}: Field): object {
  if (type === 'object')
    return Object.fromEntries(readFields(inner).map((field) => [field.name, toAttributes(field)]));
  return { min, max, maxLength, maxItems, ...(isRequired && { required: true }) };
}

/** Removes descriptions beside references: each would create a second type of the same name. */
function withPlainReferences(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(withPlainReferences);
  if (typeof schema !== 'object' || schema === null) return schema;
  if ('$ref' in schema && typeof schema.$ref === 'string') {
    return { $ref: schema.$ref.replace('#/components/schemas/', '#/definitions/') };
  }
  // A schema without a type accepts any value, not any object.
  if ('description' in schema && Object.keys(schema).length === 1) return { ...schema, tsType: 'unknown' };
  return Object.fromEntries(
    Object.entries(schema).map(([name, value]) => [name, withPlainReferences(value)]),
  );
}

function withoutRoot(text: string): string {
  return (
    text
      .replace(/^export interface Everything \{[^}]*\}$/m, '')
      .replaceAll(
        /(?: \*\s*\n)? \* This interface was referenced by `Everything`'s JSON-Schema\n \* via the `definition` "\w+"\.\n/g,
        '',
      )
      .replaceAll(/\/\*\*\n \*\/\n/g, '')
      // Comments of one line, as everywhere.
      .replaceAll(/^( *)\/\*\*\n *\* (.*)\n *\*\//gm, (whole: string, indent: string, words: string) =>
        indent.length + words.length > 112 ? whole : `${indent}/** ${words} */`,
      )
  );
}

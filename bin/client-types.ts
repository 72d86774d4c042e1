import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { compile, type JSONSchema } from 'json-schema-to-typescript';
import { format } from 'oxfmt';
import { z } from 'zod';
import { openApiDocument } from '../adapters/openapi/document.ts';

/**
 * Writes `client/openapi-types.ts`: one type per named schema of the OpenAPI document. An install runs it, and each
 * `npm run check`.
 */

const path = fileURLToPath(new URL('../client/openapi-types.ts', import.meta.url));
const types = await compile(
  {
    title: 'Everything',
    type: 'object',
    definitions: readDefinitions(openApiDocument('https://HOST/api')['components']),
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
const { code } = await format(path, withoutRoot(types), { printWidth: 110, singleQuote: true });
// An editor or a compiler that has it open does not read it again for nothing.
if (!existsSync(path) || readFileSync(path, 'utf8') !== code) writeFileSync(path, code);

function readDefinitions(components: unknown): JSONSchema['definitions'] {
  const { schemas } = z.object({ schemas: z.record(z.string(), z.unknown()) }).parse(components);
  return z.record(z.string(), z.custom<JSONSchema>()).parse(withPlainReferences(schemas));
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

import { readFileSync } from 'node:fs';
import { compile } from 'json-schema-to-typescript';
import { format, type FormatConfig } from 'oxfmt';
import { openApiDocument } from '../../adapters/openapi/document.ts';

const formatting: FormatConfig = JSON.parse(readFileSync('.oxfmtrc.json', 'utf8'));

/** Returns the formatted text of `client/openapi-types.ts`: one type per named schema of the OpenAPI document. */
export async function openApiTypes(path: string): Promise<string> {
  const { components } = openApiDocument('https://HOST/api') as { components: { schemas: object } };
  const definitions = withPlainReferences(components.schemas);
  const root = { title: 'Everything', type: 'object' as const, definitions };
  const types = await compile(root, 'Everything', {
    additionalProperties: false,
    // A tuple per length would reject an ordinary array; the service validates the length.
    ignoreMinAndMaxItems: true,
    bannerComment: '/** Generated from the OpenAPI document by `npm run generate -- client`: do not edit. */',
    format: false,
    unreachableDefinitions: true,
  });
  const { code } = await format(path, withoutRoot(types), formatting);
  return code;
}

/** Removes descriptions beside references: each would create a second type of the same name. */
function withPlainReferences(schema: unknown): any {
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

const withoutRoot = (types: string) =>
  types
    .replace(/^export interface Everything \{[^}]*\}$/m, '')
    .replaceAll(
      /(?: \*\s*\n)? \* This interface was referenced by `Everything`'s JSON-Schema\n \* via the `definition` "\w+"\.\n/g,
      '',
    )
    .replaceAll(/\/\*\*\n \*\/\n/g, '')
    // Comments of one line, as everywhere.
    .replaceAll(/^( *)\/\*\*\n *\* (.*)\n *\*\//gm, (whole: string, indent: string, words: string) =>
      indent.length + words.length > 112 ? whole : `${indent}/** ${words} */`,
    );

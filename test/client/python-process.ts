import { execFileSync } from 'node:child_process';
import { cpSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { z } from 'zod';
import { openApiDocument } from '../../adapters/openapi/document.ts';
import { installPython } from '../support/python/python-tool.ts';

const variantSchema = z.looseObject({
  properties: z.looseObject({ type: z.looseObject({ const: z.string().optional() }).optional() }).optional(),
});
const variantsSchema = z.array(variantSchema).optional();
const documentSchema = z.looseObject({
  paths: z.record(
    z.string(),
    z.record(z.string(), z.looseObject({ responses: z.record(z.string(), z.unknown()) })),
  ),
  components: z.looseObject({
    schemas: z.record(z.string(), z.looseObject({ oneOf: variantsSchema, anyOf: variantsSchema })),
  }),
});

/**
 * Builds the client for Python as a wheel: endpoints and models by openapi-python-client from the OpenAPI document, and
 * `client/python/watchpost_client`. It installs the generator from PyPI.
 *
 * Usage: npm run generate -- python
 *   --out dist/python   folder of the wheel
 */

const { values } = parseArgs({ options: { out: { type: 'string', default: 'dist/python' } } });
const out = resolve(values.out);
const source = join(out, 'source');
const file = (name: string) => join(out, name);
const bin = join(await installPython('openapi-python-client'), 'bin');

rmSync(source, { recursive: true, force: true });
cpSync('client/python', source, { recursive: true });
cpSync('LICENSE', join(source, 'LICENSE'));
const schema = '{"schema":{"type":"string","format":"binary"}}';
const document = JSON.stringify(readDocument());
writeFileSync(
  file('openapi.json'),
  document.replaceAll(/("(?:image\/jpeg|video\/mp4)":)\{\}/g, `$1${schema}`),
);
const settings = {
  content_type_overrides: {
    'image/jpeg': 'application/octet-stream',
    'video/mp4': 'application/octet-stream',
  },
  literal_enums: true,
  docstrings_on_attributes: true,
  post_hooks: [],
};
writeFileSync(file('generator.json'), JSON.stringify(settings));
const options = ['--meta', 'none', '--overwrite', '--fail-on-warning'];
const paths = {
  path: file('openapi.json'),
  config: file('generator.json'),
  'custom-template-path': join(source, 'templates'),
  'output-path': join(source, 'watchpost_client'),
};
const given = Object.entries(paths).flatMap(([name, path]) => [`--${name}`, path]);
run('openapi-python-client', ['generate', ...options, ...given]);
run('python', ['-m', 'flit_core.wheel', '--outdir', out, source]);

function run(command: string, words: string[]): void {
  execFileSync(join(bin, command), words, { stdio: ['ignore', 'ignore', 'inherit'] });
}

/**
 * Returns the document with names for variants, which the generator cannot read otherwise. Error responses become
 * exceptions, so that they are left out.
 */
function readDocument(): object {
  const document = documentSchema.parse(openApiDocument('https://HOST/api'));
  for (const { responses } of Object.values(document.paths).flatMap((methods) => Object.values(methods)))
    for (const status of Object.keys(responses)) if (!status.startsWith('2')) delete responses[status];
  const { schemas } = document.components;
  for (const schema of Object.values(schemas))
    for (const variants of [schema.oneOf, schema.anyOf])
      for (const [index, variant] of variants?.entries() ?? []) {
        const type = variant.properties?.type?.const;
        if (variants === undefined || type === undefined) continue;
        const name = toClassName(type) in schemas ? `Watch${toClassName(type)}` : toClassName(type);
        schemas[name] = variant;
        variants[index] = { $ref: `#/components/schemas/${name}` };
      }
  return document;
}

function toClassName(type: string): string {
  return type.replaceAll(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

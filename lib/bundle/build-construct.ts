import { cp, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { execFile } from 'node:child_process';
import { dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import { compile } from 'json-schema-to-typescript';
import { z } from 'zod';
import { projectFolder } from '../files.ts';
import { stageSettingsSchema } from '../stages/stage-settings.ts';
import { buildFunctions } from './build-functions.ts';

/**
 * Builds the package of the construct in `lib/dist`, which has the layout of the repository: the construct in one file,
 * its types, the functions, the console and what builds the ffmpeg layer. `npm pack ./lib` runs it; a test names
 * another folder, and one with bundles that are built already.
 */

const [, , outFolder = `${projectFolder}lib/dist`, built] = process.argv;
const out = resolve(outFolder);
/** Files of the package beside its code, as in the repository. */
const copied = [
  'lib/workflow/run.asl.json',
  'lib/workflow/bursts.asl.json',
  'lib/edge/console-placeholder',
  'layers/ffmpeg/placeholder',
  'layers/ffmpeg/checksums.json',
  'layers/ffmpeg/requirements.txt',
  'console/dist',
  'LICENSE',
];

await rm(out, { recursive: true, force: true });
await Promise.all([buildCode(), buildTypes(), ...copied.map(copy)]);

async function copy(path: string): Promise<void> {
  await cp(`${projectFolder}${path}`, join(out, path), { recursive: true });
}

async function buildCode(): Promise<void> {
  const functions = join(out, 'dist/functions');
  await (built === undefined ? buildFunctions(functions) : cp(built, functions, { recursive: true }));
  // Source maps are three quarters of the size.
  await rm(join(functions, 'maps'), { recursive: true });
  const options = { absWorkingDir: projectFolder, bundle: true, platform: 'node', target: 'node20' } as const;
  await build({
    ...options,
    entryPoints: ['lib/index.ts'],
    outfile: join(out, 'lib/index.js'),
    // Most apps of the CDK are CommonJS, and an ES module can import it too.
    format: 'cjs',
    external: ['aws-cdk-lib', 'constructs', 'swagger-ui-dist'],
    define: { 'import.meta.url': 'fileUrl' },
    banner: { js: "const fileUrl = require('node:url').pathToFileURL(__filename).href;" },
  });
  await build({
    ...options,
    entryPoints: ['layers/ffmpeg/build.ts'],
    outfile: join(out, 'layers/ffmpeg/build.mjs'),
    format: 'esm',
    banner: { js: '#!/usr/bin/env node' },
  });
  await write('package.json', '{ "type": "commonjs" }\n');
}

/**
 * Writes the declarations of the construct; the settings of a stage as an interface, without the schema that they are
 * inferred from.
 */
async function buildTypes(): Promise<void> {
  const emitted = join(out, 'emitted');
  // Without the types of other files, which the declarations name and do not contain: they are most of the work.
  const alone = ['--ignoreConfig', '--noResolve', '--noCheck', '--isolatedDeclarations', '--types', ''];
  const target = ['--target', 'es2023', '--module', 'nodenext', '--allowImportingTsExtensions'];
  const emission = ['--declaration', '--emitDeclarationOnly', '--rootDir', '.', '--outDir', emitted];
  const files = ['lib/index.ts', 'lib/watchpost.ts'];
  const options = [...files, ...alone, ...target, ...emission];
  await promisify(execFile)('node_modules/.bin/tsc', options, { cwd: projectFolder });
  for (const file of ['lib/index.d.ts', 'lib/watchpost.d.ts'])
    await write(
      file,
      (await readFile(join(emitted, file), 'utf8')).replaceAll(/(from '\.[^']*)\.ts'/g, "$1.js'"),
    );
  await write('lib/stages/stage-settings.d.ts', await describeSettings());
  await rm(emitted, { recursive: true });
}

async function describeSettings(): Promise<string> {
  const source = await readFile(`${projectFolder}lib/stages/stage-settings.ts`, 'utf8');
  const schema = z.toJSONSchema(stageSettingsSchema, { io: 'input', unrepresentable: 'any' });
  const comments = source.matchAll(/\/\*\*((?:(?!\*\/)[^])*)\*\/\s+(\w+): /g);
  for (const [, text = '', name = ''] of comments) {
    const property = schema.properties?.[name];
    if (typeof property === 'object') property.description = text.replaceAll(/\n\s*\*/g, '').trim();
  }
  // The types of the generator are those of an earlier draft.
  const plain = z.record(z.string(), z.unknown()).parse(JSON.parse(JSON.stringify(schema)));
  return compile(plain, 'StageSettingsInput', { bannerComment: '' });
}

async function write(file: string, text: string): Promise<void> {
  const path = join(out, file);
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, text);
}

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { BuildOptions } from 'esbuild';
import { z } from 'zod';
import { importZodNamespace, laterPackage, loadLater, stubUnused } from './plugins.ts';

/** Lambda functions: the folders in `functions/`. */
export const functionNames = ['api', 'stream', 'capture', 'analyze', 'deliver', 'reconcile'] as const;
export type FunctionName = (typeof functionNames)[number];

const root = fileURLToPath(new URL('../..', import.meta.url));
const { version } = z
  .object({ version: z.string() })
  .parse(JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')));

/**
 * Returns the esbuild options of a function: `<outDir>/<name>/index.mjs`, and a file beside it for what dynamic imports
 * load.
 */
export function bundleOptions(name: FunctionName, outDir: string): BuildOptions {
  return {
    absWorkingDir: root,
    entryPoints: {
      [`${name}/index`]: `functions/${name}/index.ts`,
      [`${name}/${laterPackage.file}`]: laterPackage.name,
    },
    outdir: outDir,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    // A dynamic import is a file of its own: a cold start does not load it.
    splitting: true,
    chunkNames: `${name}/[name]-[hash]`,
    format: 'esm',
    platform: 'node',
    target: 'node24',
    mainFields: ['module', 'main'],
    // Shortens the names of classes too: an error states its name as a property.
    minify: true,
    sourcemap: 'external',
    legalComments: 'none',
    logLevel: 'warning',
    // CommonJS dependencies call `require`, which an ES module lacks.
    banner: {
      js: "import{createRequire as __createRequire}from'node:module';const require=__createRequire(import.meta.url);",
    },
    define: { WATCHPOST_VERSION: JSON.stringify(version) },
    plugins: [importZodNamespace(), loadLater(), stubUnused()],
  };
}

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { BuildOptions, Plugin } from 'esbuild';
import { z } from 'zod';
import { laterPackage, loadLater } from './load-later.ts';
import { stubUnused } from './stub-unused.ts';
import { readFile } from 'node:fs/promises';

/** Lambda functions: the folders in `functions/`. */
export const functionNames = ['api', 'stream', 'capture', 'analyze', 'deliver', 'reconcile'] as const;
/** Name of a Lambda function. */
export type FunctionName = (typeof functionNames)[number];

const root = fileURLToPath(new URL('../..', import.meta.url));
const { version } = z
  .object({ version: z.string() })
  .parse(JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')));

/**
 * Returns the esbuild options of a function: `<outDir>/<name>/index.mjs`, and a file beside it for what dynamic imports load.
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

const named = "import { z } from 'zod';";

/**
 * Creates an esbuild plugin that imports zod as a namespace in the files of the project: the bundler then leaves out the kinds of schemas that
 * nothing uses (zod.dev/packages/mini, "Tree-shaking").
 */
function importZodNamespace(): Plugin {
  return {
    name: 'zod-namespace',
    setup: (build) => {
      build.onLoad(
        { filter: /[\\/](?:adapters|core|functions)[\\/].*\.ts$/, namespace: 'file' },
        async ({ path }) => {
          if (/[\\/]node_modules[\\/]/.test(path)) return undefined;
          const text = await readFile(path, 'utf8');
          if (!text.includes(named)) return undefined;
          return { contents: text.replace(named, "import * as z from 'zod';"), loader: 'ts' };
        },
      );
    },
  };
}

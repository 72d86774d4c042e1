import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { BuildOptions, Plugin } from 'esbuild';
import { z } from 'zod';
import { readFile } from 'node:fs/promises';

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

/**
 * Package that few invocations need, from synchronous code: a dynamic import would make its callers asynchronous. Its
 * bundle is a file of its own, and the first use of an export requires it.
 */
export const laterPackage = { name: 'temporal-polyfill', export: 'Temporal', file: 'temporal' } as const;

const namespace = 'later';

/** Creates an esbuild plugin that requires `laterPackage` at its first use. The file is an entry of the bundle. */
function loadLater(): Plugin {
  const { name, export: exported, file } = laterPackage;
  // Node requires ES modules since version 22. `require` is that of the banner, which the bundler must not resolve.
  const contents = `
    let loaded;
    const load = () => (loaded ??= (0, require)('./${file}.mjs').${exported});
    export const ${exported} = new Proxy({}, { get: (_, name) => load()[name] });`;
  return {
    name: 'load-later',
    setup: (build) => {
      build.onResolve({ filter: new RegExp(`^${name}$`) }, ({ kind }) =>
        kind === 'entry-point' ? undefined : { path: name, namespace, sideEffects: false },
      );
      build.onLoad({ filter: /.*/, namespace }, () => ({ contents }));
    },
  };
}

type Part = { importer: RegExp; path: RegExp };

/**
 * Unused parts of packages that their root module imports: a third of a bundle's size and load time. `importer` is
 * the root module, `path` the imported one. A test sends requests with a bundle.
 */
const unused: readonly Part[] = [
  // All locales of zod, 200 kB; only English is used.
  { importer: /[\\/]zod[\\/]v4[\\/]/, path: /\/locales\/index\.js$/ },
  { importer: /[\\/]zod[\\/]v4[\\/]classic[\\/]/, path: /\/from-json-schema\.js$/ },
  // Schemas compiled ahead; only `z.compile` uses it.
  { importer: /[\\/]zod[\\/]v4[\\/]core[\\/]/, path: /^\.\/compile\.js$/ },
  // The HTTP parser of undici for processors without SIMD, which Lambda does not have.
  { importer: /[\\/]undici[\\/]lib[\\/]dispatcher[\\/]client-h1\.js$/, path: /\/llhttp-wasm\.js$/ },
  // The writer of playlists.
  { importer: /[\\/]hls-parser[\\/]index\.js$/, path: /\/stringify$/ },
  // Unused parts of undici. Only its agents, its connector and `request` are used.
  {
    importer: /[\\/]undici[\\/]index\.js$/,
    path: /^\.\/lib\/(?:mock|web|cache|interceptor)\/|\/(?:balanced-pool|round-robin-pool|socks5-proxy-agent|env-http-proxy-agent|retry-agent|h2c-client|retry-handler)$/,
  },
];

/** Replacement module: a proxy that can be called, constructed and destructured. */
const nothing = 'module.exports = new Proxy(function () {}, { get: () => module.exports });';

/** Creates an esbuild plugin that replaces unused modules with an empty one. */
function stubUnused(): Plugin {
  return {
    name: 'leave-out',
    setup: (build) => {
      build.onResolve({ filter: /^\.{1,2}\// }, ({ path, importer }) =>
        unused.some((part) => part.importer.test(importer) && part.path.test(path))
          ? { path, namespace: 'left-out' }
          : undefined,
      );
      build.onLoad({ filter: /.*/, namespace: 'left-out' }, () => ({ contents: nothing }));
    },
  };
}

const named = "import { z } from 'zod';";

/**
 * Creates an esbuild plugin that imports zod as a namespace in the files of the project: the bundler then leaves out
 * the kinds of schemas that nothing uses (zod.dev/packages/mini, "Tree-shaking").
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

import type { Plugin } from 'esbuild';

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
export function stubUnused(): Plugin {
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

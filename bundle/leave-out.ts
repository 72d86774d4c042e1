import type { Plugin } from 'esbuild';

/**
 * Parts of packages that their root module pulls in and that nothing here uses: a third of the size of a bundle, and of the time it takes to
 * load. `importer` is the root module; `path` what it asks for. A test makes requests out of a bundle.
 */
const unused: readonly { importer: RegExp; path: RegExp }[] = [
  // All locales of zod, 200 kB: only English is ever spoken.
  { importer: /[\\/]zod[\\/]v4[\\/]/, path: /\/locales\/index\.js$/ },
  // Of undici its agents, its connector and `request` are used: no fetch, sockets, caches, interceptors and mocks.
  {
    importer: /[\\/]undici[\\/]index\.js$/,
    path: /^\.\/lib\/(?:mock|web|cache|interceptor)\/|\/(?:balanced-pool|round-robin-pool|socks5-proxy-agent|env-http-proxy-agent|retry-agent|h2c-client|retry-handler)$/,
  },
];

/** Whatever is taken out of it can be called, constructed and taken apart, and is nothing. */
const nothing = 'module.exports = new Proxy(function () {}, { get: () => module.exports });';

export const leaveOut: Plugin = {
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

import type { Plugin } from 'esbuild';

/**
 * Package that few invocations need, from synchronous code: a dynamic import would make its callers asynchronous. Its bundle is a file of its
 * own, and the first use of an export requires it.
 */
export const laterPackage = { name: 'temporal-polyfill', export: 'Temporal', file: 'temporal' } as const;

const namespace = 'later';

/** Creates an esbuild plugin that requires `laterPackage` at its first use. The file is an entry of the bundle. */
export function loadLater(): Plugin {
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

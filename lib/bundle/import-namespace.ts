import { readFile } from 'node:fs/promises';
import type { Plugin } from 'esbuild';

const named = "import { z } from 'zod';";

/**
 * Creates an esbuild plugin that imports zod as a namespace in the files of the project: the bundler then leaves out the kinds of schemas that
 * nothing uses (zod.dev/packages/mini, "Tree-shaking").
 */
export function importZodNamespace(): Plugin {
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

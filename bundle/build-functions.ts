import { mkdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { build } from 'esbuild';
import { bundleOptions, functionNames } from './options.ts';
import type { FunctionName } from './options.ts';

/** Bundle of a function and its size. */
export type BuiltFunction = { name: FunctionName; bytes: number };

/**
 * Bundles every function into `<outDir>/<name>/index.mjs`, which is deployed. Writes its source map to
 * `<outDir>/maps/<name>.mjs.map`, which stack traces need. Removes earlier content of `outDir`.
 */
export async function buildFunctions(outDir: string): Promise<BuiltFunction[]> {
  await rm(outDir, { recursive: true, force: true });
  return Promise.all(functionNames.map((name) => buildFunction(name, outDir)));
}

/** Bundles every function without writing files. */
export async function measureFunctions(): Promise<BuiltFunction[]> {
  return Promise.all(
    functionNames.map(async (name) => {
      const { outputFiles } = await build({ ...bundleOptions(name, '/'), write: false, sourcemap: false });
      return { name, bytes: outputFiles.reduce((sum, { contents }) => sum + contents.length, 0) };
    }),
  );
}

async function buildFunction(name: FunctionName, outDir: string): Promise<BuiltFunction> {
  const { outputFiles } = await build({ ...bundleOptions(name, outDir), write: false });
  let bytes = 0;
  for (const { path, contents } of outputFiles) {
    const isMap = path.endsWith('.map');
    if (!isMap) bytes = contents.length;
    const target = isMap ? join(outDir, 'maps', `${name}.mjs.map`) : join(outDir, name, 'index.mjs');
    await mkdir(dirname(target), { recursive: true });
    await writeFile(target, contents);
  }
  return { name, bytes };
}

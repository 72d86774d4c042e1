import { mkdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { build } from 'esbuild';
import { bundleOptions, functionNames } from './options.ts';
import type { FunctionName } from './options.ts';

export type BuiltFunction = { name: FunctionName; bytes: number };

/**
 * Bundles every function into `<outDir>/<name>/index.mjs`, which is deployed, and its source map into `<outDir>/maps/<name>.mjs.map`, which is
 * kept to read stack traces with. What was there before is removed.
 */
export async function buildFunctions(outDir: string): Promise<BuiltFunction[]> {
  await rm(outDir, { recursive: true, force: true });
  return Promise.all(functionNames.map((name) => buildFunction(name, outDir)));
}

/** The same, without writing anything. */
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

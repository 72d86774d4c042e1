import { mkdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { build, type Metafile } from 'esbuild';
import { bundleOptions, functionNames, type FunctionName } from './options.ts';

/**
 * Bundle of a function. `bytes` is the size of what a cold start loads: its entry, and the files that it imports
 * statically.
 */
export type BuiltFunction = { name: FunctionName; bytes: number };

/**
 * Bundles every function into `<outDir>/<name>/`, which is deployed. Writes its source maps to `<outDir>/maps/<name>/`,
 * which stack traces need. Removes earlier content of `outDir`.
 */
export async function buildFunctions(outDir: string): Promise<BuiltFunction[]> {
  await rm(outDir, { recursive: true, force: true });
  return Promise.all(functionNames.map((name) => buildFunction(name, outDir)));
}

/** Bundles every function without writing files. */
export async function measureFunctions(): Promise<BuiltFunction[]> {
  return Promise.all(
    functionNames.map(async (name) => {
      const options = {
        ...bundleOptions(name, '/'),
        write: false,
        sourcemap: false,
        metafile: true,
      } as const;
      const { metafile } = await build(options);
      return { name, bytes: loadedBytes(metafile) };
    }),
  );
}

async function buildFunction(name: FunctionName, outDir: string): Promise<BuiltFunction> {
  const { outputFiles, metafile } = await build({
    ...bundleOptions(name, outDir),
    write: false,
    metafile: true,
  });
  for (const { path, contents } of outputFiles) {
    const target = path.endsWith('.map') ? join(outDir, 'maps', path.slice(outDir.length)) : path;
    await mkdir(dirname(target), { recursive: true });
    await writeFile(target, contents);
  }
  return { name, bytes: loadedBytes(metafile) };
}

function loadedBytes({ outputs }: Metafile): number {
  const entries = Object.keys(outputs).filter((path) => outputs[path]?.entryPoint?.startsWith('functions/'));
  const loaded = new Set(entries);
  for (const path of loaded) {
    for (const { kind, path: imported } of outputs[path]?.imports ?? [])
      if (kind === 'import-statement' && imported in outputs) loaded.add(imported);
  }
  return [...loaded].reduce((sum, path) => sum + (outputs[path]?.bytes ?? 0), 0);
}

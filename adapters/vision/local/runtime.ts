import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';

/** Package of the runtime, llama.cpp for Node, and the version that is tested. */
const runtimePackage = '@fugood/llama.node';
const version = '1.7.15';

/**
 * Returns the module of the runtime, or undefined if it is not installed. `folder` has its `node_modules`; empty: that
 * of Watchpost.
 */
export function findRuntime(folder: string): string | undefined {
  const from = folder === '' ? import.meta.url : join(resolve(folder), 'package.json');
  try {
    return createRequire(from).resolve(runtimePackage);
  } catch {
    return undefined;
  }
}

/**
 * Returns the command that installs the runtime. Into a folder of its own, it installs the variant for processors only
 * (22 MB).
 */
export function installCommand(
  folder: string,
  { platform, arch }: { platform: string; arch: string } = process,
): string {
  // As an optional dependency of this run: npm omits a peer that is optional.
  if (folder === '') return `npm install --no-save --save-optional ${runtimePackage}@${version}`;
  const variant = `@fugood/node-llama-${platform}-${arch}@${version}`;
  return `npm install --prefix ${folder} --omit=optional ${runtimePackage}@${version} ${variant}`;
}

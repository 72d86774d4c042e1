import { existsSync, mkdirSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { buildFunctions } from '../../lib/bundle/build-functions.ts';
import { sharedFolder } from './runner/run-folder.ts';

/** Returns a folder with the bundles of all functions and their source maps, which nobody changes. */
export function builtFunctions(): Promise<string> {
  return builtOnce('functions', buildFunctions);
}

/**
 * Returns a folder that is built once for the files of a test run, and in `.ci/run` for the emulator beside it too:
 * bundles take ten seconds of the processor.
 */
export async function builtOnce(name: string, build: (folder: string) => Promise<unknown>): Promise<string> {
  const folder = join(process.env['WATCHPOST_BUILT'] ?? sharedFolder(), name);
  const done = `${folder}.done`;
  const lock = `${folder}.lock`;
  while (!existsSync(done)) {
    if (!take(lock)) {
      await sleep(200);
      continue;
    }
    try {
      if (!existsSync(done)) await build(folder);
      writeFileSync(done, '');
    } finally {
      rmdirSync(lock);
    }
  }
  return folder;
}

/** Takes a lock of all processes. */
function take(lock: string): boolean {
  try {
    mkdirSync(lock);
    return true;
  } catch {
    return false;
  }
}

import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve, sep } from 'node:path';
import type { TestProject } from 'vitest/node';
import { openTemporaryFolder } from '../../../cli/temporary-folder.ts';

/** Environment variable with the temporary folder of a test run. */
const runFolder = 'WATCHPOST_TEST_FOLDER';
/** Environment variable with the temporary folder around it, for caches that outlive a run. */
const systemFolder = 'WATCHPOST_TEST_SYSTEM_FOLDER';
const prefix = 'watchpost-tests-';

/**
 * Names of what may remain until the end: folders of the run, the code cache of Node, profiles of a browser that was
 * killed.
 */
const expected = [/^run$/, /^node-compile-cache$/, /^\.?org\.chromium\./];

/**
 * Gives a test run a temporary folder of its own (Vitest global setup), which its workers and their processes inherit.
 * Returns the function that deletes it and names what tests have left behind.
 */
export function setup(): (() => void) | undefined {
  if (process.env[runFolder]) return;
  const system = tmpdir();
  removeEnded(system);
  const folder = join(system, `${prefix}${process.pid}`);
  mkdirSync(join(folder, 'run'), { recursive: true });
  process.env['TMPDIR'] = folder;
  // A run starts hundreds of processes, and half of the processor time of a short one compiles its modules.
  process.env['NODE_COMPILE_CACHE'] ??= resolve('node_modules/.cache/compiled');
  // Compilers and bundlers in Go are short processes: to collect their garbage is a quarter of their processor time.
  process.env['GOGC'] ??= '400';
  process.env[runFolder] = folder;
  process.env[systemFolder] = system;
  return () => {
    process.env['TMPDIR'] = system;
    delete process.env[runFolder];
    delete process.env[systemFolder];
    const left = listLeft(folder);
    rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
    // No failure: a process that is slow to end on a busy machine may write once more after its folder is gone.
    if (left.length > 0)
      process.stderr.write(
        `\nThe tests left ${left.length} files or folders in the temporary folder: ${left.join(', ')}. ` +
          'Create them with test/support/temporary-folder.ts, which removes them.\n',
      );
  };
}

/** Returns the names of what tests have left in the folder of a run. */
export function listLeft(folder: string): string[] {
  return readdirSync(folder)
    .filter((name) => !expected.some((pattern) => pattern.test(name)))
    .toSorted();
}

/** Longer than a run takes: the process of a run in another container is not seen here. */
const keptMs = 3_600_000;

/** Removes the folders of runs that were killed. */
export function removeEnded(system: string): void {
  for (const name of readdirSync(system)) {
    const path = join(system, name);
    if (!name.startsWith(prefix) || isRunning(Number(name.slice(prefix.length)))) continue;
    const changedMs = statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Infinity;
    if (Date.now() - changedMs > keptMs) rmSync(path, { recursive: true, force: true });
  }
}

/**
 * Returns the folder of what test files share, such as recordings. It lasts until the end of the run, or of a process
 * without one.
 */
export function sharedFolder(): string {
  const folder = process.env[runFolder];
  if (folder !== undefined) return join(folder, 'run');
  ownFolder ??= openTemporaryFolder('watchpost-shared-').path;
  return ownFolder;
}

let ownFolder: string | undefined;

/** Creates a folder that lasts until the end of the run, for what a worker makes once for all of its files. */
export function folderOfRun(): string {
  return mkdtempSync(join(sharedFolder(), 'made-'));
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

/** Returns true if a test run has files of a folder, for what only they need. */
export function runsFilesIn(folder: string, { vitest }: TestProject): boolean {
  return vitest.state.getPaths().some((path) => path.startsWith(folder + sep));
}

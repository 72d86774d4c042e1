import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { findRuntime, installCommand } from '../../adapters/vision/local/runtime.ts';
import { pythonTool } from '../support/python/python-tool.ts';

const run = promisify(execFile);
const cache = fileURLToPath(new URL('../../node_modules/.cache', import.meta.url));
const script = fileURLToPath(new URL('toy_model.py', import.meta.url));

/** Files of a model with random weights: what it says is noise. */
export type ToyFiles = { model: string; projector: string };

/** Makes the files once, in a second. Returns undefined where Python or PyPI cannot be had; throws in CI. */
export async function makeToyFiles(): Promise<ToyFiles | undefined> {
  const version = createHash('sha256').update(readFileSync(script)).digest('hex').slice(0, 12);
  const folder = join(cache, `toy-model-${version}`);
  if (!existsSync(folder)) {
    const python = await pythonTool('gguf', 'python');
    if (python === undefined) return undefined;
    const made = await inNewFolder(folder, async (path) => python(script, path));
    if (made !== undefined && made.exitCode !== 0) throw new Error(made.stderr);
  }
  return { model: join(folder, 'model.gguf'), projector: join(folder, 'projector.gguf') };
}

/**
 * Installs the runtime once, and returns its folder. Returns undefined where the registry cannot be had; throws in CI.
 */
export async function installRuntime(): Promise<string | undefined> {
  const folder = join(cache, 'llama-runtime');
  if (findRuntime(folder) !== undefined) return folder;
  try {
    await inNewFolder(folder, async (path) => {
      const [command = '', ...args] = installCommand(path).split(' ');
      await run(command, [...args, '--ignore-scripts', '--no-audit', '--no-fund'], { timeout: 240_000 });
    });
  } catch (error) {
    if (process.env['CI']) throw error;
    process.stderr.write(`SKIPPED: the runtime of local models could not be installed: ${String(error)}\n`);
    return undefined;
  }
  return folder;
}

/** Does work in a new folder, which becomes `folder` when it is whole: test files that run concurrently share it. */
async function inNewFolder<Result>(folder: string, work: (path: string) => Promise<Result>) {
  await mkdir(cache, { recursive: true });
  const path = await mkdtemp(`${folder}-`);
  try {
    const result = await work(path);
    await rename(path, folder);
    return result;
  } catch (error) {
    await rm(path, { recursive: true, force: true });
    if (existsSync(folder)) return undefined;
    throw error;
  }
}

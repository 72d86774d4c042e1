import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const run = promisify(execFile);
const inProject = (path: string) => fileURLToPath(new URL(`../../../${path}`, import.meta.url));
const pinned = readFileSync(inProject('test/support/python/tools.txt'), 'utf8').split('\n');

/** Exit code and both outputs of a run. */
export type ToolRun = { exitCode: number; stdout: string; stderr: string };

/**
 * Returns a function that runs a command line of PyPI, installed at its first use. The version is that of `tools.txt`:
 * new rules come with a change of this project. Returns undefined if the tool cannot be installed; throws in CI.
 */
export async function pythonTool(
  name: string,
  command = name,
): Promise<((...args: string[]) => Promise<ToolRun>) | undefined> {
  let path: string;
  try {
    path = join(await installPython(name), 'bin', command);
  } catch (error) {
    if (process.env['CI']) throw new Error(`${name} could not be installed`, { cause: error });
    process.stderr.write(`SKIPPED: ${name} could not be installed: ${String(error)}\n`);
    return undefined;
  }
  return async (...args) => {
    const ended = await run(path, args).catch((failure: ToolRun & { code?: unknown }) => failure);
    const { stdout, stderr } = ended;
    if (!('code' in ended)) return { exitCode: 0, stdout, stderr };
    if (typeof ended.code !== 'number') throw new Error(`${command} did not run`, { cause: ended });
    return { exitCode: ended.code, stdout, stderr };
  };
}

/**
 * Installs a line of `tools.txt` into a virtual environment, unless `.ci/run` has, and returns its folder. Throws
 * without Python or package registry.
 */
export async function installPython(name: string): Promise<string> {
  const requirements = pinned.find((line) => line.startsWith(`${name}==`))?.split(' ');
  if (requirements === undefined) throw new Error(`tools.txt has no ${name}`);
  const folder = inProject(`.cache/python/${requirements[0]}`);
  await run(inProject('test/support/python/install.sh'), [folder, ...requirements], { timeout: 300_000 });
  return folder;
}

import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** Exit code and both outputs of a run. */
export type ToolRun = { exitCode: number; stdout: string; stderr: string };

/**
 * Returns a function that runs a command line of PyPI, installed into a virtual environment at its first use. The version is pinned: new rules
 * come with a change of this project. Returns undefined if the tool cannot be installed; throws in CI.
 */
export async function pythonTool(
  name: string,
  version: string,
  command = name,
): Promise<((...args: string[]) => Promise<ToolRun>) | undefined> {
  const folder = fileURLToPath(new URL(`../../node_modules/.cache/${name}-${version}`, import.meta.url));
  const path = join(folder, 'bin', command);
  try {
    if (!existsSync(path)) await installPython(folder, `${name}==${version}`);
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
 * Installs a package of PyPI into a virtual environment, with the pip of the system, if there is one, and without compiling: a pip of its own and modules
 * that no run loads are two thirds of the processor time.
 */
export async function installPython(folder: string, requirement: string): Promise<void> {
  const hasPip = await run('python3', ['-m', 'pip', '--version']).then(
    () => true,
    () => false,
  );
  await run('python3', ['-m', 'venv', ...(hasPip ? ['--without-pip'] : []), folder], { timeout: 60_000 });
  const python = join(folder, 'bin', 'python');
  const pip = hasPip ? ['python3', '-m', 'pip', '--python', python] : [python, '-m', 'pip'];
  const [command, ...args] = [...pip, 'install', '--quiet', '--no-compile', requirement];
  await run(command, args, { timeout: 240_000 });
}

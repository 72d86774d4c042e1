import { execFile, execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const run = promisify(execFile);
const cache = fileURLToPath(new URL('../../node_modules/.cache/servers/', import.meta.url));

/** Server that cannot be had on this machine. The command leaves it out. */
export class UnavailableError extends Error {}

/** Returns the path of a program of a Go module, which the Go toolchain builds from the module proxy at the first use. */
export async function installGo(name: string, module: string, version: string, folder = ''): Promise<string> {
  const program = join(cache, `${name}-${version}`, name);
  if (existsSync(program)) return program;
  const cwd = join(cache, `${name}-${version}`);
  await mkdir(cwd, { recursive: true });
  await writeFile(join(cwd, 'go.mod'), `module servers\n\ngo 1.23\n\nrequire ${module} ${version}\n`);
  const env = { ...process.env, CGO_ENABLED: '0', GOFLAGS: '-mod=mod' };
  const args = ['build', '-o', program, join(module, folder)];
  await run('go', args, { cwd, env, timeout: 900_000 }).catch((error: Error) => {
    throw new UnavailableError(`Go module ${module} ${version}: ${lastLine(error.message)}`);
  });
  return program;
}

/** Installs Debian packages unless `command` exists. */
export function installDebian(command: string, packages: string[]): string {
  if (existsSync(command)) return command;
  const isRoot = process.getuid?.() === 0 && existsSync('/usr/bin/apt-get');
  if (!isRoot) throw new UnavailableError(`apt-get install ${packages.join(' ')} (as root)`);
  try {
    const options = { stdio: 'pipe', env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' } } as const;
    execFileSync('apt-get', ['-q', 'update'], options);
    // A daemon of a package must not start.
    execFileSync('apt-get', ['install', '-y', '--no-install-recommends', ...packages], options);
  } catch (error) {
    throw new UnavailableError(`${packages.join(' ')}: ${lastLine(String(error))}`);
  }
  return command;
}

/** Returns the folder of an npm package, installed apart from the packages of this project. */
export async function installNpm(name: string, version: string): Promise<string> {
  const cwd = join(cache, `${name}-${version}`);
  const folder = join(cwd, 'node_modules', name);
  if (existsSync(folder)) return folder;
  await mkdir(cwd, { recursive: true });
  await writeFile(join(cwd, 'package.json'), '{ "private": true }');
  await run('npm', ['install', '--ignore-scripts', `${name}@${version}`], { cwd, timeout: 300_000 }).catch(
    (error: Error) => {
      throw new UnavailableError(`npm package ${name} ${version}: ${lastLine(error.message)}`);
    },
  );
  return folder;
}

function lastLine(text: string): string {
  return text.trim().split('\n').at(-1)?.slice(0, 200) ?? '';
}

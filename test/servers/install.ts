import { execFile, execFileSync } from 'node:child_process';
import { existsSync, statSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const run = promisify(execFile);
const cache = fileURLToPath(new URL('../../node_modules/.cache/servers/', import.meta.url));

/** Server that cannot be had on this machine. The command leaves it out. */
export class UnavailableError extends Error {}

/**
 * Returns the path of a program of a Go module, which the Go toolchain builds from the module proxy at the first use.
 */
export function installGo(name: string, module: string, version: string, folder = ''): Promise<string> {
  return buildGo(name, module, version, join(module, folder));
}

/** Returns the path of a program of this folder, `NAME.go`, that uses a Go module. */
export async function installOwnGo(name: string, module: string, version: string): Promise<string> {
  const source = new URL(`${name}.go`, import.meta.url);
  return buildGo(name, module, version, fileURLToPath(source));
}

async function buildGo(name: string, module: string, version: string, target: string): Promise<string> {
  const cwd = join(cache, `${name}-${version}`);
  const program = join(cwd, name);
  if (existsSync(program) && !isNewer(target, program)) return program;
  await mkdir(cwd, { recursive: true });
  await writeFile(join(cwd, 'go.mod'), `module servers\n\ngo 1.23\n\nrequire ${module} ${version}\n`);
  const env = { ...process.env, CGO_ENABLED: '0', GOFLAGS: '-mod=mod' };
  await run('go', ['build', '-o', program, target], { cwd, env, timeout: 900_000 }).catch((error: Error) => {
    throw new UnavailableError(`Go module ${module} ${version}: ${lastLine(error.message)}`);
  });
  return program;
}

/** Returns the path of a program of this folder, `NAME.rs`, that Cargo builds with crates. */
export async function installCargo(name: string, crates: string): Promise<string> {
  const source = fileURLToPath(new URL(`${name}.rs`, import.meta.url));
  const cwd = join(cache, name);
  const program = join(cwd, 'target', 'debug', name);
  if (existsSync(program) && !isNewer(source, program)) return program;
  await mkdir(cwd, { recursive: true });
  const bin = `[[bin]]\nname = "${name}"\npath = "${source}"\n`;
  const manifest = `[package]\nname = "${name}"\nversion = "0.1.0"\nedition = "2021"\n\n${bin}\n[dependencies]\n${crates}\n[profile.dev]\ndebug = 0\n`;
  await writeFile(join(cwd, 'Cargo.toml'), manifest);
  await run('cargo', ['build'], { cwd, timeout: 900_000 }).catch((error: Error) => {
    throw new UnavailableError(`Crates ${name}: ${lastLine(error.message)}`);
  });
  return program;
}

function isNewer(source: string, program: string): boolean {
  return existsSync(source) && statSync(source).mtimeMs > statSync(program).mtimeMs;
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

/** Returns the start of VLC's command line. It refuses to run as root. */
export function installVlc(): [command: string, ...args: string[]] {
  const vlc = installDebian('/usr/bin/cvlc', ['vlc-bin', 'vlc-plugin-base']);
  const isRoot = process.getuid?.() === 0;
  return isRoot ? ['setpriv', '--reuid=nobody', '--regid=nogroup', '--clear-groups', vlc] : [vlc];
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

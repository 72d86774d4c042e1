import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';

const requirement = 'aws-lambda-ric@4.0.2';
/** Tools that compile the native part of the package, which contains curl and aws-lambda-cpp. */
const buildTools = ['autoconf', 'automake', 'libtool', 'cmake', 'g++', 'make', 'python3'];

/** Returns the path of AWS's runtime client for Node, built once into `.cache/`. Throws with the missing tools. */
export function installRuntimeClient(): string {
  const folder = resolve('.cache/lambda-runtime-client');
  const path = `${folder}/node_modules/aws-lambda-ric/index.mjs`;
  if (existsSync(path)) return path;
  bringBuildTools();
  mkdirSync(folder, { recursive: true });
  // npm runs only the install scripts that a project permits.
  writeFileSync(
    `${folder}/package.json`,
    JSON.stringify({ private: true, allowScripts: { 'aws-lambda-ric': true } }),
  );
  execFileSync(
    'npm',
    ['install', '--prefix', folder, '--no-audit', '--no-fund', '--loglevel=error', requirement],
    {
      cwd: folder,
      stdio: ['ignore', 'ignore', 'inherit'],
      env: { ...process.env, MAKEFLAGS: '-j2' },
    },
  );
  return path;
}

function bringBuildTools(): void {
  const missing = ['autoconf', 'automake', 'libtoolize', 'cmake', 'g++', 'make'].filter(
    (name) => !inPath(name),
  );
  if (missing.length === 0) return;
  const command = ['apt-get', 'install', '-y', '--no-install-recommends', ...buildTools];
  if (process.getuid?.() !== 0 || !existsSync('/usr/bin/apt-get')) {
    throw new Error(
      `Cannot compile AWS's runtime client: ${missing.join(', ')} is missing. Run: ${command.join(' ')}`,
    );
  }
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  execFileSync('apt-get', ['-q', 'update'], { stdio: ['ignore', 'ignore', 'inherit'], env });
  execFileSync('apt-get', command.slice(1), { stdio: ['ignore', 'ignore', 'inherit'], env });
}

function inPath(name: string): boolean {
  return (process.env['PATH'] ?? '').split(':').some((folder) => existsSync(`${folder}/${name}`));
}

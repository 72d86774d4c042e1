import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';

const requirement = 'aws-lambda-ric@4.0.2';

/**
 * Returns the path of AWS's runtime client for Node, installed once into `.cache/`, without its native part: to compile
 * that takes a minute of two cores, and `without-native-client.ts` needs none of it. Throws without package registry.
 */
export function installRuntimeClient(): string {
  const folder = resolve('.cache/lambda-runtime-client');
  const path = `${folder}/node_modules/aws-lambda-ric/index.mjs`;
  if (existsSync(path)) return path;
  mkdirSync(folder, { recursive: true });
  writeFileSync(`${folder}/package.json`, JSON.stringify({ private: true }));
  const options = ['--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];
  execFileSync('npm', ['install', '--prefix', folder, ...options, requirement], {
    cwd: folder,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  return path;
}

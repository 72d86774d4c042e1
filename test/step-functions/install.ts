import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const folder = fileURLToPath(new URL('.', import.meta.url));

/**
 * Installs the interpreter of Amazon States Language before its first use. It is no dependency of the project, since it
 * requires Node 22: `npm ci` on Node 20 would warn of it.
 */
export function setup(): void {
  if (existsSync(`${folder}node_modules/aws-local-stepfunctions`)) return;
  execFileSync('npm', ['ci', '--no-fund', '--no-audit', '--loglevel=error'], {
    cwd: folder,
    stdio: ['ignore', 'ignore', 'inherit'],
    timeout: 240_000,
  });
}

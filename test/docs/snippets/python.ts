import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { folderOfRun } from '../../support/runner/run-folder.ts';

/** Available Python: `receivers` require a package of PyPI, which is downloaded once. */
export type Python = { present: boolean; receivers: boolean; env: NodeJS.ProcessEnv };

/** Packages of PyPI that blocks install, and that the client for Python needs. */
const packages = ['standardwebhooks', 'httpx-sse==0.4.3', 'httpx==0.28.1', 'attrs', 'mcp'];

/** Prepares Python. Prints a warning for blocks that cannot run; throws in CI. */
export function preparePython(): Python {
  const wheels = resolve(`.cache/docs-wheels-${packages.join('-')}`);
  if (!runs(['-c', 'import venv'])) {
    reportOmission('python3 with venv is not installed', 'everything in Python');
    return { present: false, receivers: false, env: {} };
  }
  if (!existsSync(wheels) || readdirSync(wheels).length === 0) {
    mkdirSync(wheels, { recursive: true });
    if (!runs(['-m', 'pip', 'download', '--quiet', '--dest', wheels, ...packages])) {
      rmSync(wheels, { recursive: true });
      reportOmission('PyPI cannot be reached', 'the client for Python and the agent');
      return { present: true, receivers: false, env: {} };
    }
  }
  return {
    present: true,
    receivers: true,
    // Few of the modules are loaded: compiling all takes half of the processor time.
    env: {
      PATH: `${quickPython()}:${process.env['PATH']}`,
      PIP_NO_INDEX: '1',
      PIP_FIND_LINKS: wheels,
      PIP_DISABLE_PIP_VERSION_CHECK: '1',
      PIP_NO_COMPILE: '1',
    },
  };
}

/**
 * Returns a folder with a `python3` whose `-m venv FOLDER` uses the pip of the system: one of its own takes half of the
 * processor time.
 */
function quickPython(): string {
  const folder = folderOfRun();
  const script = [
    '#!/bin/sh',
    `PATH="\${PATH#${folder}:}"`,
    '[ "$1 $2" = "-m venv" ] || exec python3 "$@"',
    'python3 -m venv --without-pip "$3" || exit',
    'printf \'#!/bin/sh\\nexec python3 -m pip --python "%s" "$@"\\n\' "$PWD/$3/bin/python" > "$3/bin/pip"',
    'chmod +x "$3/bin/pip"',
  ];
  writeFileSync(join(folder, 'python3'), script.join('\n'), { mode: 0o755 });
  return folder;
}

function runs(args: string[]): boolean {
  try {
    execFileSync('python3', args, { stdio: ['ignore', 'ignore', 'pipe'], timeout: 240_000 });
    return true;
  } catch {
    return false;
  }
}

function reportOmission(why: string, what: string): void {
  if (process.env['CI']) throw new Error(`${why}; in CI all blocks of the documentation must run`);
  process.stderr.write(`
!!! ${why}: ${what} of the documentation is NOT tested !!!

`);
}

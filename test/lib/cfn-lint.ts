import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const run = promisify(execFile);
/** Pinned version, so that new rules arrive only with a commit. */
const version = '1.58.0';
/** Ignored rule W3005: CDK adds redundant `DependsOn` entries to functions. */
const ignored = ['--ignore-checks', 'W3005'];
const folder = fileURLToPath(new URL(`../../node_modules/.cache/cfn-lint-${version}`, import.meta.url));

/** Lints a template and returns the findings. Installs cfn-lint on first use. Returns undefined if that fails; throws in CI. */
export async function cfnLint(): Promise<((template: string) => Promise<string>) | undefined> {
  const command = join(folder, 'bin', 'cfn-lint');
  try {
    if (!existsSync(command)) await install();
  } catch (error) {
    if (process.env['CI']) throw new Error('cfn-lint could not be installed', { cause: error });
    process.stderr.write(`SKIPPED: cfn-lint could not be installed: ${String(error)}\n`);
    return undefined;
  }
  return async (template) => {
    const found = await run(command, [...ignored, '--format', 'parseable', template]).catch(
      (failure: { stdout: string }) => failure,
    );
    return found.stdout;
  };
}

async function install(): Promise<void> {
  await run('python3', ['-m', 'venv', folder], { timeout: 60_000 });
  await run(join(folder, 'bin', 'pip'), ['install', '--quiet', `cfn-lint==${version}`], { timeout: 240_000 });
}

import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const run = promisify(execFile);
/** Pinned: new rules come with a change of ours, not overnight. */
const version = '1.58.0';
/** W3005: CDK lets functions wait for their policies by `DependsOn`, of which a part is implied already. */
const ignored = ['--ignore-checks', 'W3005'];
const folder = fileURLToPath(new URL(`../../node_modules/.cache/cfn-lint-${version}`, import.meta.url));

/** Lints a template and gives what is found. Installed into a virtual environment at first use; undefined where that cannot be, and an error in CI. */
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

import { execFile } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { folderOfTest } from '../support/temporary-folder.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));

/** Runs the CLI with `cdk.json`, bundles and all rules: ten seconds, up to a minute on a busy machine. */
test('cdk synth works without credentials, region and layer', { timeout: 240_000 }, async () => {
  const folder = folderOfTest();
  const env = {
    PATH: process.env['PATH'],
    HOME: folder,
    TMPDIR: folder,
    CI: '1',
    AWS_EC2_METADATA_DISABLED: 'true',
  };
  const command = ['node_modules/aws-cdk/bin/cdk', 'synth', '--quiet', '--output', join(folder, 'out')];
  const { stderr } = await promisify(execFile)(process.execPath, command, { cwd: root, env });
  expect(readdirSync(join(folder, 'out'))).toContain('Watchpost-dev.template.json');
  expect(stderr).not.toContain('ERROR');
});

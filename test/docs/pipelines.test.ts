import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { expect, test } from 'vitest';
import { parse } from 'yaml';

import { pythonTool } from '../support/python/python-tool.ts';
import { folderOfTest } from '../support/temporary-folder.ts';

type Step = { uses?: string; run?: string; if?: string };

const page = readFileSync('docs/operate/pipelines.md', 'utf8');
const [, text = ''] = /```yaml\n([^]*?)```/.exec(page) ?? [];
const workflow = parse(text);
const steps: Step[] = workflow.jobs.deploy.steps;
const runs = steps.flatMap(({ run }) => run ?? []);
const { scripts }: { scripts: Record<string, string> } = JSON.parse(readFileSync('package.json', 'utf8'));

test('the workflow asks for a token of GitHub, and has no key and no other right', () => {
  expect(workflow.permissions).toEqual({ contents: 'read', 'id-token': 'write' });
  expect(text).not.toMatch(/secrets\.|access-key/);
  expect(page).toContain(`environment:${workflow.jobs.deploy.environment}"`);
});

test('the workflow synthesizes, checks, deploys and tests in this order, with commands of the project', () => {
  const commands = runs.flatMap((run) => /^npm run (\S+)/.exec(run)?.[1] ?? []);
  expect(commands).toEqual(['preflight', 'deploy', 'rollback', 'smoke']);
  expect(commands.filter((name) => scripts[name] === undefined)).toEqual([]);
  expect(runs[1]).toContain('cdk synth');
});

test('the actions that the project uses itself have the commits that it uses', () => {
  const own = readFileSync('.github/workflows/release.yml', 'utf8');
  const actions = steps.flatMap(({ uses }) => uses ?? []).filter((name) => name.startsWith('actions/'));
  expect(actions).toHaveLength(2);
  for (const action of actions) expect(own).toContain(action);
});

test('a rollback by hand deploys nothing, and each run ends with the smoke test', () => {
  const conditions = steps.filter(({ if: condition }) => condition !== undefined);
  expect(conditions.filter(({ if: condition }) => condition === '${{ inputs.rollback }}')).toHaveLength(1);
  expect(conditions).toHaveLength(4);
  expect(steps.at(-1)?.run).toContain('npm run smoke');
  expect(steps.at(-1)?.if).toBeUndefined();
});

const validate = await pythonTool('check-jsonschema');
test.skipIf(!validate)('GitHub accepts the workflow', async () => {
  const file = join(folderOfTest(), 'deploy.yml');
  writeFileSync(file, text);
  const { stdout } = await validate!('--builtin-schema', 'vendor.github-workflows', file);
  expect(stdout).toContain('ok -- validation done');
});

/**
 * Runs the command of a step with a CDK that prints its arguments, and without AWS. Returns its exit code and output.
 */
function runStep(step: string): Promise<{ code: number; said: string }> {
  const folder = folderOfTest();
  writeFileSync(join(folder, 'cdk'), '#!/bin/sh\necho cdk "$@"\n', { mode: 0o755 });
  const [, name = '', words = ''] = /^npm run (\S+) -- (.*)$/.exec(step) ?? [];
  // The command without the build before it.
  const program = scripts[name]?.split('&& ').at(-1);
  const env = {
    PATH: `${folder}${delimiter}${process.env['PATH']}`,
    AWS_ENDPOINT_URL: 'http://127.0.0.1:9',
    AWS_MAX_ATTEMPTS: '1',
    AWS_ACCESS_KEY_ID: 'test',
    AWS_SECRET_ACCESS_KEY: 'test',
    AWS_REGION: 'eu-central-1',
  };
  return new Promise((resolve) => {
    const child = execFile('sh', ['-c', `${program} ${words}`], { env }, (_, stdout, stderr) =>
      resolve({ code: child.exitCode ?? -1, said: stdout + stderr }),
    );
  });
}

test.each([
  ['preflight', 1, 'red    credentials'],
  ['rollback', 1, 'ECONNREFUSED'],
  ['smoke', 1, 'FAILED'],
])('the command %s takes the arguments of the workflow, and fails without AWS', async (name, code, said) => {
  const step = runs.find((run) => run.startsWith(`npm run ${name} `)) ?? '';
  const ended = await runStep(step);
  expect(ended.said).toContain(said);
  expect(ended.code).toBe(code);
});

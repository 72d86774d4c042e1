import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { parse } from 'yaml';

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

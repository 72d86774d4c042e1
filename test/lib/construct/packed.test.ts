import { execFile } from 'node:child_process';
import { copyFileSync, globSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, expect, test } from 'vitest';
import { typescriptBlocks } from '../../docs/snippets/blocks.ts';
import { installConstruct } from '../../support/packed-construct.ts';
import { folderOfFile } from '../../support/temporary-folder.ts';
import type { Resource } from '../synthesize.ts';

const run = promisify(execFile);
const app = folderOfFile();
const out = join(app, 'cdk.out');
let bytes: number;

/**
 * An app of somebody else, a CommonJS one with the settings of `cdk init`, compiled strictly with that of the page and
 * synthesized without a file of the project.
 */
beforeAll(async () => {
  bytes = await installConstruct(app);
  copyFileSync('test/lib/construct/app.ts.txt', join(app, 'app.ts'));
  const options = ['--strict', '--target', 'es2022', '--module', 'node20', '--types', 'node'];
  const [page, ...others] = typescriptBlocks.get('construct') ?? [];
  if (!page || others.length > 0) throw new Error('One block of the documentation has the construct');
  writeFileSync(join(app, 'page.ts'), page.text);
  const files = ['app.ts', 'page.ts'];
  await run(resolve('node_modules/.bin/tsc'), [...options, '--skipLibCheck', ...files], { cwd: app });
  const { PATH, CDK_VALIDATION } = process.env;
  const env = { PATH, CDK_VALIDATION, CDK_OUTDIR: out };
  await run(process.execPath, ['app.js'], { cwd: app, env });
}, 300_000);

function readTemplates(): Record<string, Resource>[] {
  return globSync('**/*.template.json', { cwd: out }).map(
    (file) => JSON.parse(readFileSync(join(out, file), 'utf8')).Resources,
  );
}

test('the package of the construct has less than 6 MB', () => {
  expect(bytes).toBeLessThan(6_000_000);
});

test('an app outside of the project has the construct in three regions, twice in a stack, in a stage and in a nested stack', () => {
  const templates = readTemplates().filter((resources) =>
    Object.values(resources).some(({ Type }) => Type === 'AWS::DynamoDB::Table'),
  );
  expect(templates.map((each) => count(each, 'AWS::CloudFront::Distribution'))).toContain(2);
  expect(templates).toHaveLength(3);
});

/**
 * Types whose resources have a name of the project that is unique in an account or a region, by the property that has
 * it.
 */
const named: Record<string, (properties: any) => unknown> = {
  'AWS::StepFunctions::StateMachine': ({ StateMachineName }) => StateMachineName,
  'AWS::CloudWatch::Alarm': ({ AlarmName }) => AlarmName,
  'AWS::Logs::LogGroup': ({ LogGroupName }) => LogGroupName,
  'AWS::Logs::DeliverySource': ({ Name }) => Name,
  'AWS::Events::EventBus': ({ Name }) => Name,
  'AWS::CloudFront::Function': ({ Name }) => Name,
  'AWS::CloudFront::ResponseHeadersPolicy': ({ ResponseHeadersPolicyConfig: { Name } }) => Name,
  'AWS::CloudFront::OriginAccessControl': ({ OriginAccessControlConfig: { Name } }) => Name,
};

test('resources with a name in the account have that of their deployment, of at most 64 characters', () => {
  const names = readTemplates()
    .flatMap((resources) => Object.values(resources))
    .map(({ Type, Properties }) => ({ Type, name: named[Type]?.(Properties) }))
    .filter(({ name }) => name !== undefined);
  expect(names.length).toBeGreaterThan(120);
  expect(new Set(names.map((each) => JSON.stringify(each))).size).toBe(names.length);
  for (const { name } of names) if (typeof name === 'string') expect(name.length).toBeLessThanOrEqual(64);
});

function count(resources: Record<string, Resource>, type: string): number {
  return Object.values(resources).filter(({ Type }) => Type === type).length;
}

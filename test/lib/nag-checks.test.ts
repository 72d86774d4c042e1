import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { CloudFormationValidatePlugin } from 'aws-cdk-lib';
import { describe, expect, test } from 'vitest';
import { cfnLint } from './cfn-lint.ts';
import { covers, findings } from './findings.ts';
import { stageKinds } from './stage-kinds.ts';
import { synthesize } from './synthesize.ts';
import type { Synthesized } from './synthesize.ts';

const kinds = Object.entries(stageKinds).map(([kind, settings]) => {
  const synthesized = synthesize(settings);
  return { kind, synthesized, ...findings(synthesized.app) };
});
/** Timeout, since the rule engine takes seconds to start. */
const cloudFormation = new CloudFormationValidatePlugin();

test('cdk-nag inspects the stack and reports the known findings', () => {
  const [{ found } = { found: [] }] = kinds;
  expect(found).toContainEqual(expect.objectContaining({ rule: 'AwsSolutions-APIG4' }));
  expect(found).toContainEqual(expect.objectContaining({ rule: 'Serverless-LambdaDLQ' }));
});

describe.each(kinds)('stage $kind', ({ synthesized, found, acknowledged }) => {
  test('the stack acknowledges every finding of AwsSolutions and Serverless with a reason', () => {
    expect(found.filter((finding) => !acknowledged.some((each) => covers(each, finding)))).toEqual([]);
  });

  test('every acknowledgment matches a current finding', () => {
    expect(acknowledged.filter((each) => !found.some((finding) => covers(each, finding)))).toEqual([]);
  });

  test('every reason of an acknowledgment is a sentence', () => {
    for (const { reason } of acknowledged) expect(reason).toMatch(/^[A-Z].{20,}\.$/);
  });

  test('the CloudFormation rules of CDK report nothing for the stack', () => {
    expect(templateFindings(synthesized, synthesized.template.toJSON())).toEqual([]);
  });
});

test('the CloudFormation rules of CDK report an invalid property', () => {
  const [{ synthesized } = { synthesized: synthesize() }] = kinds;
  const broken = structuredClone(synthesized.template.toJSON());
  for (const { Type, Properties } of Object.values<any>(broken['Resources']))
    if (Type === 'AWS::Lambda::Function') Properties.Timeout = 901;
  expect(templateFindings(synthesized, broken)).not.toEqual([]);
});

test(
  'cfn-lint reports nothing for the templates of all stages and for the rules of the event bus',
  { timeout: 300_000 },
  async (context) => {
    const lint = await cfnLint();
    if (lint === undefined)
      return context.skip(
        'cfn-lint could not be installed: requires Python 3 with pip and a package registry',
      );
    const templates = kinds.map(({ synthesized: { outDir } }) =>
      join(outDir, 'Watchpost-test.template.json'),
    );
    expect(await lint(...templates, 'docs/operate/event-rules.yaml')).toBe('');
  },
);

function templateFindings({ app, stack, outDir }: Synthesized, template: object) {
  const templatePath = join(outDir, 'judged.template.json');
  writeFileSync(templatePath, JSON.stringify(template));
  const stackTemplate = {
    stackConstructPath: stack.node.path,
    templatePath,
    accountId: '123456789012',
    region: 'eu-central-1',
  };
  const context: any = {
    appConstruct: app,
    templatePaths: [templatePath],
    stackTemplates: [stackTemplate],
  };
  return cloudFormation.validate(context).violations;
}

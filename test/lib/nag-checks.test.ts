import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { CloudFormationValidatePlugin } from 'aws-cdk-lib';
import { expect, test } from 'vitest';
import { covers, findings } from './findings.ts';
import { synthesize } from './synthesize.ts';

const synthesized = synthesize({ alarmEmail: 'operator@example.com' });
/** Timeout, since the rule engine takes seconds to start. */
const cloudFormation = new CloudFormationValidatePlugin();
const { found, acknowledged } = findings(synthesized.app);

test('cdk-nag inspects the stack and reports the known findings', () => {
  expect(found).toContainEqual(expect.objectContaining({ rule: 'AwsSolutions-APIG4' }));
  expect(found).toContainEqual(expect.objectContaining({ rule: 'Serverless-LambdaDLQ' }));
});

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
  expect(templateFindings(JSON.stringify(synthesized.template.toJSON()))).toEqual([]);
});

test('the CloudFormation rules of CDK report an invalid property', () => {
  const broken = structuredClone(synthesized.template.toJSON());
  for (const { Type, Properties } of Object.values<any>(broken['Resources']))
    if (Type === 'AWS::Lambda::Function') Properties.Timeout = 901;
  expect(templateFindings(JSON.stringify(broken))).not.toEqual([]);
});

function templateFindings(template: string) {
  const templatePath = join(synthesized.outDir, 'judged.template.json');
  writeFileSync(templatePath, template);
  const stackTemplate = {
    stackConstructPath: synthesized.stack.node.path,
    templatePath,
    accountId: '123456789012',
    region: 'eu-central-1',
  };
  const context: any = {
    appConstruct: synthesized.app,
    templatePaths: [templatePath],
    stackTemplates: [stackTemplate],
  };
  return cloudFormation.validate(context).violations;
}

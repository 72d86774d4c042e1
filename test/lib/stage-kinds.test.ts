import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { CloudFormationValidatePlugin } from 'aws-cdk-lib';
import { describe, expect, test } from 'vitest';
import { defaultModelId, modelRegions } from '../../adapters/vision/bedrock/models.ts';
import { listResourceTypes } from '../../lib/operations/preflight/deployment-actions.ts';
import { stageSettingsSchema } from '../../lib/stages/stage-settings.ts';
import { assertSupportedRegion, hasFunctionUrls } from '../../lib/stages/region.ts';
import { cfnLint } from './cfn-lint.ts';
import { covers, findings } from './findings.ts';
import { joinTemplates, type PlainTemplate } from './join-templates.ts';
import { folderOfRun } from '../support/runner/run-folder.ts';
import { describeRoleChanges, describeRoles } from './roles.ts';
import { stageKinds, type StageKind } from './stage-kinds.ts';
import { ownFunctions, synthesize, type Synthesized } from './synthesize.ts';

/**
 * `npm run test:aws -- --all` holds all stages in all regions to all rules, also those of the CDK, whose engine takes
 * 15 s of processor time to start; `npm test` two that differ most to cdk-nag, and the default one to cfn-lint.
 */
const takesAll = process.env['STAGE_RULES'] === 'all';
const judgedEachTime: readonly string[] = ['default', 'own-network'] satisfies StageKind[];
const kinds = Object.entries(stageKinds).map(([kind, settings]) => ({
  kind,
  settings,
  synthesized: synthesize(settings),
}));
const judged = kinds
  .filter(({ kind }) => takesAll || judgedEachTime.includes(kind))
  .map((stage) => ({ ...stage, ...findings(stage.synthesized.app) }));
/** Hashes of all that a stage configures in names of functions: without them, most functions are the same. */
const hashes = /(?<=CurrentVersion\w{8})[0-9a-f]{32,40}|(?<=release )[0-9a-f]{10}/g;

/** The rule engine takes seconds to start, on a busy machine half a minute. */
const slow = { timeout: 300_000 };
const templates = Object.fromEntries(judged.map(({ kind, synthesized }) => [kind, inRegion(synthesized)]));
const cloudFormation = new CloudFormationValidatePlugin();

test('cdk-nag inspects the stack and reports the known findings', () => {
  const [{ found } = { found: [] }] = judged;
  expect(found).toContainEqual(expect.objectContaining({ rule: 'AwsSolutions-APIG4' }));
  expect(found).toContainEqual(expect.objectContaining({ rule: 'Serverless-LambdaDLQ' }));
});

test.each(kinds)(
  'preflight knows the actions of every type of resource of stage $kind',
  ({ settings, synthesized }) => {
    const types = Object.values(synthesized.resources).map(({ Type }) => Type);
    const known = listResourceTypes(stageSettingsSchema.parse(settings));
    expect([...new Set(types)].filter((type) => !type.startsWith('Custom::')).toSorted()).toEqual(
      known.toSorted(),
    );
  },
);

describe.each(judged)('stage $kind', ({ found, acknowledged }) => {
  test('the stack acknowledges every finding of AwsSolutions and Serverless with a reason', () => {
    expect(found.filter((finding) => !acknowledged.some((each) => covers(each, finding)))).toEqual([]);
  });

  test('every acknowledgment matches a current finding', () => {
    expect(acknowledged.filter((each) => !found.some((finding) => covers(each, finding)))).toEqual([]);
  });

  test('every reason of an acknowledgment is a sentence', () => {
    for (const { reason } of acknowledged) expect(reason).toMatch(/^[A-Z].{20,}\.$/);
  });
});

test.runIf(takesAll)(
  'the CloudFormation rules of CDK report an invalid property that is added to the last stage, and nothing else',
  slow,
  () => {
    const broken = structuredClone(templates);
    const { Resources = {} } = Object.values(broken).at(-1) ?? {};
    const [valid] = Object.values(Resources).filter(({ Type }) => Type === 'AWS::Lambda::Function');
    Resources['Broken'] = { ...valid!, Properties: { ...valid!.Properties, Timeout: 901 } };
    const violations = templateFindings(joinTemplates(broken));
    expect(violations.flatMap((each) => each.violatingResources)).toEqual([
      expect.objectContaining({ resourceLogicalId: 'Broken' }),
    ]);
  },
);

test('the production stage reserves more executions for event streams than it permits, in an account of 460 as the page states', () => {
  const { synthesized } = kinds.find(({ kind }) => kind === 'production') ?? { synthesized: synthesize() };
  const functions = ownFunctions(synthesized);
  const reserved = ['api', 'stream', 'events', 'capture'].map(
    (name) => functions[name].ReservedConcurrentExecutions,
  );
  expect(reserved).toEqual([50, 100, 110, 100]);
  expect(functions['events'].Environment.Variables.EVENT_STREAMS).toBe('100');
  expect(functions['stream'].Environment.Variables.EVENT_STREAMS).toBe('50');
  const page = readFileSync('docs/operate/aws.md', 'utf8');
  expect(page).toContain(`an account needs ${reserved.reduce((sum, each) => sum + each, 100)}`);
});

test('the roles of the default stage have exactly the permissions of roles.snapshot.md', async () => {
  const [{ synthesized: base }] = kinds as [(typeof kinds)[number]];
  await expect(describeRoles(base.resources)).toMatchFileSnapshot('./roles.snapshot.md');
});

test('the roles of each stage differ from those of the default stage as roles-of-stages.snapshot.md lists', async () => {
  const [{ synthesized: base }, ...others] = kinds as [(typeof kinds)[number], ...typeof kinds];
  const stages = others.map(({ kind, synthesized }) => ({
    kind,
    resources: inRegion(synthesized).Resources,
  }));
  const text = describeRoleChanges(base.resources, stages);
  await expect(text).toMatchFileSnapshot('./roles-of-stages.snapshot.md');
});

describe('regions', () => {
  const differMost: readonly string[] = ['eu-central-1', 'us-east-1'];
  const regions = modelRegions
    .filter((region) => hasFunctionUrls(region) && (takesAll || differMost.includes(region)))
    .map((region) => ({ region, ...splitTemplate(region) }));
  const [first] = regions;

  test.for(regions)(
    'the template for $region is that of every region, but for the model and the logs of CloudFront',
    ({ region, common, model, logging }) => {
      expect(common).toEqual(first?.common);
      expect(logging).toHaveLength(region === 'us-east-1' ? 3 : 0);
      const arn = `arn:aws:bedrock:${region}:`;
      expect(model).toContain(arn);
      expect(model).toContain(defaultModelId(region));
    },
  );

  test('the synthesis rejects a region of another partition, also with a model', () => {
    const elsewhere = { region: 'us-gov-west-1', modelId: 'amazon.nova-lite-v1:0' };
    expect(() => synthesize(elsewhere)).toThrow(/CloudFront/);
  });

  test('CloudFront logs no query string, which signs links to evidence, and no page that a request came from', () => {
    const template = synthesize({ region: 'us-east-1' }).template;
    const [fields] = Object.values(template.findResources('AWS::Logs::Delivery')).map(
      ({ Properties }) => Properties.RecordFields,
    );
    expect(fields).toContain('cs-uri-stem');
    expect(fields.filter((field: string) => /query|cookie|referer|cs-headers/i.test(field))).toEqual([]);
    for (const { region } of regions)
      expect(
        JSON.stringify(synthesize({ region }).template.findResources('AWS::CloudFront::Distribution')),
      ).not.toContain('"Logging"');
  });

  test.each(['eu-south-2', 'il-central-1', 'ap-southeast-7'].slice(0, takesAll ? undefined : 1))(
    'the error for a stage in %s, which has no function URLs, names the other origin of its event streams',
    (region) => {
      const model = { modelId: 'global.amazon.nova-2-lite-v1:0' };
      expect(() => synthesize({ region, ...model })).toThrow(
        `Lambda has no function URLs in ${region}. Set "streamOrigin": "rest-api" in the stage.`,
      );
      expect(() => synthesize({ region, ...model, streamOrigin: 'rest-api' })).not.toThrow();
    },
  );

  test('a stage that names its account is deployed to no other one', () => {
    expect(synthesize({ account: '123456789012' }).stack.account).toBe('123456789012');
    expect(() => synthesize({ account: 'mine' })).toThrow('12 digits');
  });

  test.each(['us-gov-west-1', 'us-gov-east-1', 'cn-north-1', 'eusc-de-east-1'])(
    'a stage in %s is rejected, because its partition has no CloudFront for CloudFormation',
    (region) => {
      expect(() => assertSupportedRegion(region)).toThrow(/CloudFront/);
    },
  );
});

test(
  'cfn-lint reports nothing for templates of stages and for the rules of the event bus',
  { timeout: 300_000 },
  async (context) => {
    const lint = await cfnLint(takesAll ? modelRegions : ['eu-central-1']);
    if (lint === undefined)
      return context.skip(
        'cfn-lint could not be installed: requires Python 3 with pip and a package registry',
      );
    const path = join(folderOfRun(), 'joined.template.json');
    writeFileSync(path, JSON.stringify(takesAll ? joinTemplates(templates) : templates['default']));
    expect(await lint(path, 'docs/operate/event-rules.yaml')).toBe('');
  },
);

/** Returns the template of a stage in the region of the default stage, with the same hashes. */
function inRegion({ stack, template }: Synthesized): PlainTemplate {
  const text = JSON.stringify(template.toJSON()).replaceAll(stack.region, 'eu-central-1');
  return JSON.parse(text.replaceAll(hashes, (hash) => '0'.repeat(hash.length)));
}

/** Separates what may differ between regions from the rest of the template; the rest has no region and no hash. */
function splitTemplate(region: string) {
  const template = structuredClone(synthesize({ region }).template.toJSON());
  const resources = Object.entries<any>(template['Resources']);
  const logging = resources.filter(([, { Type }]) => Type.startsWith('AWS::Logs::Delivery'));
  for (const [id] of logging) delete template['Resources'][id];
  for (const [, { Type, Properties }] of resources)
    if (Type === 'AWS::S3::BucketPolicy')
      Properties.PolicyDocument.Statement = Properties.PolicyDocument.Statement.filter(
        ({ Principal }: any) => Principal.Service !== 'delivery.logs.amazonaws.com',
      );
  const [, policy] =
    resources.find(([id, { Type }]) => Type === 'AWS::IAM::Policy' && id.startsWith('Analyze')) ?? [];
  const isModel = ({ Action }: any) => Action === 'bedrock:InvokeModel';
  const statements: object[] = policy.Properties.PolicyDocument.Statement;
  policy.Properties.PolicyDocument.Statement = statements.filter((each) => !isModel(each));
  const common = JSON.stringify(template)
    .replaceAll(region, 'REGION')
    .replaceAll(defaultModelId(region) ?? '', 'MODEL')
    .replaceAll(hashes, '');
  return { common: JSON.parse(common), model: JSON.stringify(statements.filter(isModel)), logging };
}

function templateFindings(template: PlainTemplate) {
  const [{ synthesized } = { synthesized: synthesize() }] = kinds;
  const { app, stack, outDir } = synthesized;
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

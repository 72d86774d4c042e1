import { BedrockRuntimeClient, ConverseCommand } from '@aws-sdk/client-bedrock-runtime';
import { BedrockClient, GetFoundationModelCommand } from '@aws-sdk/client-bedrock';
import {
  CloudFrontClient,
  ListDistributionsCommand,
  ListResponseHeadersPoliciesCommand,
} from '@aws-sdk/client-cloudfront';
import { GetRoleCommand, IAMClient, SimulatePrincipalPolicyCommand } from '@aws-sdk/client-iam';
import { GetCallerIdentityCommand, STSClient } from '@aws-sdk/client-sts';
import { GetAccountSettingsCommand, LambdaClient } from '@aws-sdk/client-lambda';
import { ListBucketsCommand, S3Client } from '@aws-sdk/client-s3';
import { ListServiceQuotasCommand, ServiceQuotasClient } from '@aws-sdk/client-service-quotas';
import { mockClient } from 'aws-sdk-client-mock';
import { describe, expect, test } from 'vitest';
import { checkAccount, toExitCode } from '../../../../lib/operations/preflight/checks.ts';
import { countStreams } from '../../../../lib/operations/preflight/capacity.ts';
import { findModelQuotas } from '../../../../lib/operations/preflight/quotas.ts';
import { readFacts } from '../../../../lib/operations/preflight/facts.ts';
import { listActions } from '../../../../lib/operations/preflight/deployment-actions.ts';
import type { PolicyDecision } from '../../../../lib/operations/preflight/policies.ts';
import type { AccountFacts } from '../../../../lib/operations/preflight/facts.ts';
import { stageSettingsSchema } from '../../../../lib/stages/stage-settings.ts';
import type { StageSettingsInput } from '../../../../lib/stages/stage-settings.ts';

const modelId = 'eu.amazon.nova-lite-v1:0';
const seasoned: AccountFacts = {
  region: 'eu-central-1',
  account: { value: '123456789012' },
  concurrency: { value: { limit: 1000, unreserved: 1000 } },
  bootstrappedRegions: { value: ['eu-central-1'] },
  model: { value: 'answered' },
  modelQuotas: { value: { tokensPerMinute: 1_000_000, tokensPerDay: 1_440_000_000 } },
  transitionsPerSecond: { value: 800 },
  distributions: { value: { used: 3, quota: 500 } },
  headerPolicies: { value: { used: 6, quota: 20 } },
  lifecycle: { value: { status: 'ACTIVE', end: undefined } },
  deployment: {
    value: {
      principal: 'arn:aws:iam::123456789012:role/cdk-hnb659fds-cfn-exec-role-123456789012-eu-central-1',
      decisions: [{ action: 'sqs:CreateQueue', decision: 'allowed', byOrganization: false }],
    },
  },
  assumption: {
    value: {
      principal: 'arn:aws:iam::123456789012:user/ops',
      decisions: [{ action: 'sts:AssumeRole', decision: 'allowed', byOrganization: false }],
    },
  },
  layer: 'built',
};
const check = (facts: Partial<AccountFacts>, settings: StageSettingsInput = {}) =>
  checkAccount(
    { ...seasoned, ...facts },
    stageSettingsSchema.parse({ alarmEmail: 'ops@example.com', ...settings }),
    modelId,
  );
const simulated = (decisions: PolicyDecision[]) => ({
  value: { principal: 'arn:aws:iam::1:role/r', decisions },
});
const level = (results: ReturnType<typeof check>, name: string) =>
  results.find((result) => result.check === name);

describe('preflight', () => {
  test('a seasoned account has green results only', () => {
    const results = check({});
    expect(results.filter((result) => result.level !== 'green')).toEqual([]);
    expect(level(results, 'model quotas')?.found).toContain('carry 107 streams');
    expect(toExitCode(results)).toBe(0);
  });

  test('credentials of another account than that of the stage stop a deployment', () => {
    expect(level(check({}, { account: '123456789012' }), 'credentials')?.level).toBe('green');
    expect(level(check({}, { account: '210987654321' }), 'credentials')).toMatchObject({
      level: 'red',
      found: 'They are of account 123456789012, and the stage is for 210987654321.',
    });
  });

  test('a model in its legacy period, and the last response headers policies, are reported before a deployment', () => {
    const legacy = check({ lifecycle: { value: { status: 'LEGACY', end: new Date('2027-03-01') } } });
    expect(level(legacy, 'model lifecycle')).toMatchObject({
      level: 'yellow',
      found: `${modelId} is legacy and ends on 2027-03-01.`,
    });
    expect(
      level(check({ headerPolicies: { value: { used: 17, quota: 20 } } }), 'header policies')?.level,
    ).toBe('green');
    expect(
      level(check({ headerPolicies: { value: { used: 18, quota: 20 } } }), 'header policies')?.level,
    ).toBe('red');
  });

  test('every yellow and red result names the next step', () => {
    const denied = { error: { name: 'AccessDeniedException', message: 'no' } };
    const results = check(
      {
        concurrency: denied,
        bootstrappedRegions: denied,
        model: denied,
        headerPolicies: denied,
        lifecycle: denied,
        modelQuotas: denied,
        transitionsPerSecond: denied,
        distributions: denied,
        deployment: denied,
        assumption: denied,
        layer: 'missing',
      },
      { burstSeconds: 0, alarmEmail: undefined },
    );
    expect(results.filter((result) => result.level === 'green')).toEqual([]);
    for (const { next } of results) expect(next).toMatch(/^[A-Z].+\.$/);
    expect(toExitCode(results)).toBe(1);
  });

  test('a model that is closed to a new account is red, with AWS Support as the next step', () => {
    const model = { error: { name: 'ValidationException', message: 'Operation not allowed' } };
    expect(level(check({ model }), 'model access')).toMatchObject({
      level: 'red',
      next: expect.stringContaining('AWS Support'),
    });
  });

  test('a region without the assets bucket of the CDK is red', () => {
    const results = check({ bootstrappedRegions: { value: ['us-east-1'] } });
    expect(level(results, 'bootstrap')).toMatchObject({ level: 'red', next: 'Run npx cdk bootstrap.' });
  });

  test('reserved executions that a new account does not have are red', () => {
    const concurrency = { value: { limit: 10, unreserved: 10 } };
    expect(level(check({ concurrency }), 'Lambda concurrency')?.level).toBe('yellow');
    const reserving = check({ concurrency }, { reservedConcurrency: { api: 50, stream: 100 } });
    expect(level(reserving, 'Lambda concurrency')?.level).toBe('red');
  });

  test('a quota of fewer tokens than one stream takes is red', () => {
    const modelQuotas = { value: { tokensPerMinute: 4_000 } };
    expect(level(check({ modelQuotas }), 'model quotas')?.level).toBe('red');
    expect(
      level(check({ modelQuotas: { value: {} } }, { modelTokensPerMinute: 4_000 }), 'model quotas')?.level,
    ).toBe('red');
  });

  test('the quotas of a new account are compared too, and the least decides', () => {
    const fine = { tokensPerMinute: 1_000_000, tokensPerDay: 1_440_000_000 };
    const found = (more: object) =>
      level(check({ modelQuotas: { value: { ...fine, ...more } } }), 'model quotas');
    expect(found({ requestsPerMinute: 5 })).toMatchObject({
      level: 'red',
      found: expect.stringContaining('5 calls per minute carry none'),
    });
    expect(found({ requestsPerMinute: 60 })).toMatchObject({
      level: 'yellow',
      next: expect.stringContaining('60 calls per minute are the least'),
    });
    expect(found({ accountTokensPerDay: 1_000_000 })?.level).toBe('red');
    expect(found({ requestsPerMinute: 1_000, accountTokensPerDay: 1_440_000_000 })?.level).toBe('green');
  });

  test('a model whose quotas are not found is never green', () => {
    const unknown = { modelQuotas: { value: { accountTokensPerDay: 9e9 } } };
    for (const settings of [{}, { modelTokensPerMinute: 1_000_000 }])
      expect(level(check(unknown, settings), 'model quotas')).toMatchObject({
        level: 'yellow',
        next: expect.stringContaining('modelTokensPerMinute'),
      });
  });

  test('the streams of an account are the least of the ceilings of capture and of the rest, by kind of source', () => {
    const streams = (settings: StageSettingsInput) => level(check({}, settings), 'Lambda concurrency')?.found;
    const prod = { reservedConcurrency: { api: 50, stream: 100, capture: 100 } };
    expect(streams(prod)).toContain('1000 streams of HLS or 285 of RTSP');
    const least = { mode: 'frames', intervalSeconds: 10 } as const;
    const count = (source: 'hls' | 'rtsp', capture: number, analyze?: number) =>
      countStreams(1000, { capture, ...(analyze !== undefined && { analyze }) }, { ...least, source });
    expect([count('rtsp', 100), count('hls', 100)]).toEqual([333, 2000]);
    expect(count('hls', 600, 10)).toBe(63);
    expect(countStreams(1000, {}, { ...least, source: 'hls' })).toBe(2403);
    expect(countStreams(100, { capture: 100 }, { ...least, source: 'hls' })).toBe(0);
  });

  test('a quota per day that carries fewer streams than the one per minute is yellow, and red if it carries none', () => {
    const withDay = (tokensPerDay: number) =>
      level(check({ modelQuotas: { value: { tokensPerMinute: 200_000, tokensPerDay } } }), 'model quotas');
    expect(withDay(288_000_000)?.level).toBe('green');
    expect(withDay(30_000_000)).toMatchObject({
      level: 'yellow',
      found: expect.stringContaining('30000000 tokens per day carry 2 streams'),
    });
    expect(withDay(1_000_000)?.level).toBe('red');
  });

  test('an account without a distribution may have to be verified, one at its quota cannot create another', () => {
    const withUsed = (used: number, quota: number | null) =>
      level(check({ distributions: { value: { used, quota } } }), 'CloudFront');
    expect(withUsed(0, 500)).toMatchObject({ level: 'yellow', next: expect.stringContaining('verified') });
    expect(withUsed(1, null)?.level).toBe('green');
    expect(withUsed(500, 500)).toMatchObject({ level: 'red', next: expect.stringContaining('us-east-1') });
  });

  test('an action that a service control policy forbids is red, with the setting that avoids it', () => {
    const denied = (action: string, byOrganization: boolean, decision: PolicyDecision['decision']) =>
      level(check({ deployment: simulated([{ action, decision, byOrganization }]) }), 'policies');
    expect(denied('lambda:CreateFunctionUrlConfig', true, 'explicitDeny')).toMatchObject({
      level: 'red',
      found: expect.stringContaining('A service control policy forbids lambda:CreateFunctionUrlConfig'),
      next: expect.stringContaining('rest-api'),
    });
    expect(denied('sqs:CreateQueue', true, 'implicitDeny')?.level).toBe('red');
    expect(denied('sqs:CreateQueue', false, 'explicitDeny')?.found).toContain('A policy forbids');
    // The simulation has no resource: a permission for resources by name looks like none.
    expect(denied('sqs:CreateQueue', false, 'implicitDeny')?.level).toBe('yellow');
  });

  test('a long list of forbidden actions is cut, and an operator without the roles of the CDK is warned', () => {
    const decisions = Array.from({ length: 8 }, (_, index) => ({
      action: `iam:Action${index}`,
      decision: 'explicitDeny' as const,
      byOrganization: true,
    }));
    const results = check({ deployment: simulated(decisions), assumption: simulated(decisions.slice(0, 1)) });
    expect(level(results, 'policies')?.found).toContain('iam:Action4 and 3 more');
    expect(level(results, 'roles of the CDK')?.level).toBe('yellow');
  });

  test('the actions are those of the stage', () => {
    const actions = (settings: StageSettingsInput) => listActions(stageSettingsSchema.parse(settings));
    expect(actions({})).toContain('lambda:CreateFunctionUrlConfig');
    expect(actions({})).not.toContain('ec2:CreateNatGateway');
    expect(actions({ streamOrigin: 'rest-api' })).not.toContain('lambda:CreateFunctionUrlConfig');
    expect(actions({ fixedEgress: 'new-vpc' })).toContain('ec2:CreateNatGateway');
  });

  test('a layer that is not built is built by the deployment if there is a pip', () => {
    expect(level(check({ layer: 'buildable' }), 'ffmpeg layer')?.level).toBe('green');
    expect(level(check({ layer: 'missing' }), 'ffmpeg layer')?.next).toContain('pip');
  });

  test('a stage whose alarms reach nobody is yellow', () => {
    const none = level(check({}, { alarmEmail: undefined }), 'alarms');
    expect(none).toMatchObject({ level: 'yellow', next: expect.stringContaining('Set one') });
    const alarmTopicArn = 'arn:aws:sns:eu-central-1:123456789012:pager';
    expect(level(check({}, { alarmEmail: undefined, alarmTopicArn }), 'alarms')?.level).toBe('green');
  });

  test('the transitions of an account say how many streams they carry', () => {
    expect(level(check({}), 'Step Functions')?.found).toContain('800 per second carry 32000 streams');
    const none = check({ transitionsPerSecond: { value: 0 } });
    expect(level(none, 'Step Functions')?.level).toBe('red');
    expect(level(check({}, { burstSeconds: 0 }), 'Step Functions')?.level).toBe('yellow');
  });
});

/** Quotas as ListServiceQuotas returns them (servicequotas/2019-06-24/apireference/API_ListServiceQuotas.html). */
const quota = (ServiceCode: string, QuotaName: string, Value: number) => ({
  ServiceCode,
  ServiceName: ServiceCode,
  QuotaArn: `arn:aws:servicequotas:eu-central-1:123456789012:${ServiceCode}/L-0`,
  QuotaCode: 'L-0',
  QuotaName,
  Value,
  Unit: 'None',
  Adjustable: true,
  GlobalQuota: false,
});
const bedrockQuotas = [
  quota('bedrock', 'Cross-Region InvokeModel tokens per minute for Amazon Nova 2 Lite', 1),
  quota('bedrock', 'On-demand InvokeModel tokens per minute for Amazon Nova Lite', 2),
  quota('bedrock', 'Cross-Region InvokeModel tokens per minute for Amazon Nova Lite', 400_000),
  quota(
    'bedrock',
    'Model invocation max tokens per day for Amazon Nova Lite (doubled for cross-region calls)',
    576_000_000,
  ),
];
const cloudFrontQuotas = [
  quota('cloudfront', 'Alternate domain names (CNAMEs) per distribution', 100),
  quota('cloudfront', 'Distributions per AWS account that are associated with the same key group', 100),
  quota('cloudfront', 'Web distributions per AWS account', 500),
];
const stateQuotas = [
  quota('states', 'StateTransition throttle token bucket size', 5000),
  quota('states', 'StateTransition throttle token refill rate per second', 800),
];

test.each([
  ['eu.amazon.nova-lite-v1:0', { tokensPerMinute: 400_000, tokensPerDay: 576_000_000 }],
  ['amazon.nova-lite-v1:0', { tokensPerMinute: 2, tokensPerDay: 576_000_000 }],
  ['global.amazon.nova-2-lite-v1:0', { tokensPerMinute: 1 }],
  ['eu.amazon.nova-pro-v1:0', {}],
])('the quotas of %s are found by the name of the model', (id, expected) => {
  const applied = bedrockQuotas.map(({ QuotaName, Value }) => ({ name: QuotaName, value: Value }));
  expect(findModelQuotas(applied, id)).toEqual(expected);
});

test('requests per minute are found by either name of a version, and the tokens of all models by theirs', () => {
  const names = {
    'On-demand model inference requests per minute for Amazon Nova Lite V1': 3,
    'Cross-region model inference requests per minute for Amazon Nova Lite V1': 10,
    'Requests per minute for Amazon Nova Lite V1': 20,
    'Requests per minute for Amazon Nova Pro V1': 1,
    'Cross-Model Max Tokens Per Day': 100_000,
  };
  const quotas = Object.entries(names).map(([name, value]) => ({ name, value }));
  expect(findModelQuotas(quotas, 'eu.amazon.nova-lite-v1:0')).toEqual({
    requestsPerMinute: 10,
    accountTokensPerDay: 100_000,
  });
});

test('a quota of Claude has dots where its id has hyphens', () => {
  const name = 'Cross-region model inference tokens per minute for Anthropic Claude Haiku 4.5';
  expect(findModelQuotas([{ name, value: 7 }], 'us.anthropic.claude-haiku-4-5-20251001-v1:0')).toEqual({
    tokensPerMinute: 7,
  });
});

describe('readFacts', () => {
  const clients = () => {
    const lambda = mockClient(LambdaClient);
    const s3 = mockClient(S3Client);
    const bedrock = mockClient(BedrockRuntimeClient);
    const quotas = mockClient(ServiceQuotasClient);
    quotas.on(ListServiceQuotasCommand, { ServiceCode: 'bedrock' }).resolves({ Quotas: bedrockQuotas });
    quotas.on(ListServiceQuotasCommand, { ServiceCode: 'states' }).resolves({ Quotas: stateQuotas });
    quotas.on(ListServiceQuotasCommand, { ServiceCode: 'cloudfront' }).resolves({ Quotas: cloudFrontQuotas });
    // Shapes of the API references: cloudfront ListDistributions, sts GetCallerIdentity, iam GetRole and SimulatePrincipalPolicy.
    const list = { Marker: '', MaxItems: 100, IsTruncated: false, Quantity: 0 };
    const cloudFront = mockClient(CloudFrontClient);
    cloudFront.on(ListDistributionsCommand).resolves({ DistributionList: list });
    const policies = (...names: string[]) => ({
      MaxItems: 100,
      Quantity: names.length,
      Items: names.map((Name) => ({
        ResponseHeadersPolicy: { ResponseHeadersPolicyConfig: { Name } },
      })),
    });
    cloudFront
      .on(ListResponseHeadersPoliciesCommand)
      .resolves({
        ResponseHeadersPolicyList: {
          ...policies('Watchpost-dev-eu-central-1-api', 'theirs'),
          NextMarker: 'more',
        } as never,
      })
      .on(ListResponseHeadersPoliciesCommand, { Type: 'custom', Marker: 'more' })
      .resolves({ ResponseHeadersPolicyList: policies('Watchpost-dev-eu-west-1-api') as never });
    mockClient(BedrockClient)
      .on(GetFoundationModelCommand, { modelIdentifier: 'amazon.nova-lite-v1:0' })
      .resolves({
        modelDetails: {
          modelLifecycle: { status: 'LEGACY', endOfLifeTime: new Date('2027-03-01') },
        } as never,
      });
    const sts = mockClient(STSClient);
    sts.on(GetCallerIdentityCommand).resolves({
      UserId: 'AROAEXAMPLE:ops',
      Account: '123456789012',
      Arn: 'arn:aws:sts::123456789012:assumed-role/AWSReservedSSO_Admin_0a1b/ops',
    });
    const iam = mockClient(IAMClient);
    iam.on(GetRoleCommand, { RoleName: 'AWSReservedSSO_Admin_0a1b' }).resolves({
      Role: {
        Path: '/aws-reserved/sso.amazonaws.com/',
        RoleName: 'AWSReservedSSO_Admin_0a1b',
        RoleId: 'AROAEXAMPLE',
        Arn: 'arn:aws:iam::123456789012:role/aws-reserved/sso.amazonaws.com/AWSReservedSSO_Admin_0a1b',
        CreateDate: new Date(0),
      },
    });
    iam
      .on(SimulatePrincipalPolicyCommand)
      .callsFake(({ ActionNames, PolicySourceArn, Marker, ContextEntries }) => {
        if (PolicySourceArn.includes('cfn-exec-role') && Marker === undefined && ActionNames.length > 1)
          return {
            EvaluationResults: [evaluation(ActionNames[0], false)],
            IsTruncated: true,
            Marker: 'next',
          };
        const [region] = ContextEntries[0].ContextKeyValues;
        return {
          EvaluationResults: [evaluation(`${ActionNames.at(-1)} in ${region}`, true)],
          IsTruncated: false,
        };
      });
    lambda.on(GetAccountSettingsCommand).resolves({
      AccountLimit: {
        TotalCodeSize: 80530636800,
        CodeSizeUnzipped: 262144000,
        CodeSizeZipped: 52428800,
        ConcurrentExecutions: 10,
        UnreservedConcurrentExecutions: 10,
      },
      AccountUsage: { TotalCodeSize: 0, FunctionCount: 0 },
    });
    s3.on(ListBucketsCommand).resolves({
      Buckets: [{ Name: 'cdk-hnb659fds-assets-123456789012-eu-central-1' }, { Name: 'photos' }],
    });
    return { lambda, s3, bedrock };
  };
  const evaluation = (EvalActionName: string, AllowedByOrganizations: boolean) => ({
    EvalActionName,
    EvalResourceName: '*',
    EvalDecision: AllowedByOrganizations ? 'allowed' : 'explicitDeny',
    MatchedStatements: [],
    MissingContextValues: [],
    OrganizationsDecisionDetail: { AllowedByOrganizations },
  });
  const wanted = {
    region: 'eu-central-1',
    stack: 'Watchpost-dev',
    qualifier: 'hnb659fds',
    modelId,
    actions: ['lambda:CreateFunctionUrlConfig', 'sqs:CreateQueue', 'iam:CreateRole'],
    layerFile: '/nonexistent/ffmpeg',
    pip: async () => 'pip 25.0',
  };
  const options = { region: 'eu-central-1' };
  const real = () => ({
    lambda: new LambdaClient(options),
    s3: new S3Client(options),
    bedrock: new BedrockRuntimeClient(options),
    models: new BedrockClient(options),
    quotas: new ServiceQuotasClient(options),
    modelQuotas: new ServiceQuotasClient(options),
    globalQuotas: new ServiceQuotasClient(options),
    cloudFront: new CloudFrontClient(options),
    iam: new IAMClient(options),
    sts: new STSClient(options),
  });

  test('the facts are those of the responses of AWS', async () => {
    const { bedrock } = clients();
    bedrock.on(ConverseCommand).resolves({ stopReason: 'max_tokens' });
    expect(await readFacts(real(), wanted)).toEqual({
      region: 'eu-central-1',
      account: { value: '123456789012' },
      concurrency: { value: { limit: 10, unreserved: 10 } },
      bootstrappedRegions: { value: ['eu-central-1'] },
      model: { value: 'answered' },
      modelQuotas: { value: { tokensPerMinute: 400_000, tokensPerDay: 576_000_000 } },
      transitionsPerSecond: { value: 800 },
      distributions: { value: { used: 0, quota: 500 } },
      headerPolicies: { value: { used: 2, quota: 20 } },
      lifecycle: { value: { status: 'LEGACY', end: new Date('2027-03-01') } },
      deployment: {
        value: {
          principal: 'arn:aws:iam::123456789012:role/cdk-hnb659fds-cfn-exec-role-123456789012-eu-central-1',
          decisions: [
            { action: 'lambda:CreateFunctionUrlConfig', decision: 'explicitDeny', byOrganization: true },
            { action: 'sqs:CreateQueue in eu-central-1', decision: 'allowed', byOrganization: false },
            { action: 'iam:CreateRole in us-east-1', decision: 'allowed', byOrganization: false },
          ],
        },
      },
      assumption: {
        value: {
          principal:
            'arn:aws:iam::123456789012:role/aws-reserved/sso.amazonaws.com/AWSReservedSSO_Admin_0a1b',
          decisions: [
            { action: 'sts:AssumeRole in eu-central-1', decision: 'allowed', byOrganization: false },
          ],
        },
      },
      layer: 'buildable',
    });
  });

  test('another qualifier of the bootstrap is that of its bucket and its roles', async () => {
    const { bedrock } = clients();
    bedrock.on(ConverseCommand).resolves({ stopReason: 'max_tokens' });
    const facts = await readFacts(real(), { ...wanted, qualifier: 'ours' });
    expect(facts.bootstrappedRegions).toEqual({ value: [] });
    expect(facts.deployment).toMatchObject({
      value: { principal: expect.stringContaining('role/cdk-ours-cfn-exec-role-') },
    });
  });

  test('an error of AWS is a fact and stops no other check', async () => {
    const { bedrock } = clients();
    bedrock
      .on(ConverseCommand)
      .rejects(Object.assign(new Error('Operation not allowed'), { name: 'ValidationException' }));
    expect(await readFacts(real(), wanted)).toMatchObject({
      concurrency: { value: { limit: 10 } },
      model: { error: { name: 'ValidationException', message: 'Operation not allowed' } },
    });
  });
});

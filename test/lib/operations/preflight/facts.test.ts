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
import { findModelQuotas } from '../../../../lib/operations/preflight/quotas.ts';
import { readFacts } from '../../../../lib/operations/preflight/facts.ts';

const modelId = 'eu.amazon.nova-lite-v1:0';

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
    // Shapes of the API references: cloudfront ListDistributions, sts GetCallerIdentity, iam GetRole and
    // SimulatePrincipalPolicy.
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
    const facts = await readFacts(real(), { ...wanted, qualifier: 'other' });
    expect(facts.bootstrappedRegions).toEqual({ value: [] });
    expect(facts.deployment).toMatchObject({
      value: { principal: expect.stringContaining('role/cdk-other-cfn-exec-role-') },
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

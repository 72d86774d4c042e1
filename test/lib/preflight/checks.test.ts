import { BedrockRuntimeClient, ConverseCommand } from '@aws-sdk/client-bedrock-runtime';
import { GetAccountSettingsCommand, LambdaClient } from '@aws-sdk/client-lambda';
import { ListBucketsCommand, S3Client } from '@aws-sdk/client-s3';
import { mockClient } from 'aws-sdk-client-mock';
import { describe, expect, test } from 'vitest';
import { checkAccount, toExitCode } from '../../../lib/preflight/checks.ts';
import { readFacts } from '../../../lib/preflight/facts.ts';
import type { AccountFacts } from '../../../lib/preflight/facts.ts';
import { stageSettingsSchema } from '../../../lib/stage/stage-settings.ts';
import type { StageSettingsInput } from '../../../lib/stage/stage-settings.ts';

const modelId = 'eu.amazon.nova-lite-v1:0';
const seasoned: AccountFacts = {
  region: 'eu-central-1',
  concurrency: { value: { limit: 1000, unreserved: 1000 } },
  bootstrappedRegions: { value: ['eu-central-1'] },
  model: { value: 'answered' },
  layerBuilt: true,
};
const check = (facts: Partial<AccountFacts>, settings: StageSettingsInput = {}) =>
  checkAccount({ ...seasoned, ...facts }, stageSettingsSchema.parse(settings), modelId);
const level = (results: ReturnType<typeof check>, name: string) =>
  results.find((result) => result.check === name);

describe('preflight', () => {
  test('a seasoned account has nothing red, and yellow only for what no API states', () => {
    const results = check({}, { modelTokensPerMinute: 1_000_000 });
    expect(results.filter((result) => result.level !== 'green').map((result) => result.check)).toEqual([
      'CloudFront',
    ]);
    expect(level(results, 'model tokens')?.found).toContain('carry 107 streams');
    expect(toExitCode(results)).toBe(0);
  });

  test('every yellow and red result names the next step', () => {
    const denied = { error: { name: 'AccessDeniedException', message: 'no' } };
    const results = check(
      { concurrency: denied, bootstrappedRegions: denied, model: denied, layerBuilt: false },
      { burstSeconds: 0 },
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
    expect(level(check({}, { modelTokensPerMinute: 4_000 }), 'model tokens')?.level).toBe('red');
  });
});

describe('readFacts', () => {
  const clients = () => {
    const lambda = mockClient(LambdaClient);
    const s3 = mockClient(S3Client);
    const bedrock = mockClient(BedrockRuntimeClient);
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
  const wanted = { region: 'eu-central-1', modelId, layerFile: '/nonexistent/ffmpeg' };
  const options = { region: 'eu-central-1' };
  const real = () => ({
    lambda: new LambdaClient(options),
    s3: new S3Client(options),
    bedrock: new BedrockRuntimeClient(options),
  });

  test('the facts are those of the responses of AWS', async () => {
    const { bedrock } = clients();
    bedrock.on(ConverseCommand).resolves({ stopReason: 'max_tokens' });
    expect(await readFacts(real(), wanted)).toEqual({
      region: 'eu-central-1',
      concurrency: { value: { limit: 10, unreserved: 10 } },
      bootstrappedRegions: { value: ['eu-central-1'] },
      model: { value: 'answered' },
      layerBuilt: false,
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
